"""Commands that Messor gains where simweb is installed: `messor demo` and `messor rehearse`."""
