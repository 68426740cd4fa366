"""From the model to flat variables for one node: the contract between Python, the templates and the roles."""

from kcluster.variables.nodes import for_node, shown
from kcluster.variables.properties import settings
from kcluster.variables.spelling import masked, secret

__all__ = ["for_node", "masked", "secret", "settings", "shown"]
