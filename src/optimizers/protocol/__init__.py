"""The run protocol: ``python -m optimizers.protocol.run`` and ``…aggregate``."""
