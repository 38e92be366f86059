"""A simulated model behind a real HTTP server that speaks the chat-completions protocol.

For tests, tutorials and experiments at scale. Nothing it says comes from a model; whoever reads
results made with it must be told so (``ModelSpec.is_simulated``).
"""

from lcbgrid.models.simulate.app import SimulatedApp
from lcbgrid.models.simulate.server import run_server, serve_in_thread

__all__ = ["SimulatedApp", "run_server", "serve_in_thread"]
