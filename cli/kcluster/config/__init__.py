"""From the model to flat variables for one node: the contract between Python, the templates and the roles."""

from kcluster.config.escaping import masked, secret
from kcluster.config.node_variables import for_node, shown
from kcluster.config.properties import settings

__all__ = ["for_node", "masked", "secret", "settings", "shown"]
