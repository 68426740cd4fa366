"""One module per command word: options, help, confirmation, one call, one return."""
