"""What runs inside a sandbox: a small fork server and the wrapper around each program.

This package is bound into the sandbox as it is and started by the bare interpreter, so it imports
nothing but the standard library and itself. It never sees an expected output.
"""
