"""The judge: runs programs in sandboxes and decides, from outside, whether they are right."""
