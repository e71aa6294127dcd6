"""The production shape: real servers, as a team runs them, on this machine's loopback."""
