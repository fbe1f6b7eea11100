"""Which dialect a reply is written in: the engine of `auto`."""
