"""What the Molecule scenarios of the roles and of the whole cluster share: hosts of the lab, and the way to run them.

A scenario is its hosts and their inventory (molecule.yml), what brings them there (converge.yml), and what must hold
then (verify.yml). Everything else is here.
"""
