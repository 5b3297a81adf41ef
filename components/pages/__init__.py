"""The pages. `page_of` says what a page shows; its module's `render` draws it."""

from weir.components.pages.base import Page, page_of

__all__ = ["Page", "page_of"]
