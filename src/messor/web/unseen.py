"""The attribute on elements that a browser found to be invisible when it rendered a page.

Set where pages are rendered, with all of their style sheets; used where a page's text is passed to
a model.
"""

from __future__ import annotations

UNSEEN_MARK = "data-messor-unseen"
