"""The operators' commands, a module or folder each. They import the protocol, never vice versa."""
