"""Boxes of elements whose layout has come to rest, for pointers that move by coordinates."""

from playwright.sync_api import FloatRect, Locator

# Charts above may still grow by their data: the box counts once it is the same for as many frames.
AT_REST = """element => new Promise((resolve) => {
    let last = '', frames = 0;
    const look = () => {
        const { x, y, width, height } = element.getBoundingClientRect();
        const now = [x, y, width, height].join();
        frames = now === last ? frames + 1 : 0;
        last = now;
        if (frames < 20) requestAnimationFrame(look);
        else resolve();
    };
    look();
})"""


def box_at_rest(element: Locator) -> FloatRect:
    """The box of an element in px of the viewport, scrolled into view, once nothing moves it any more."""
    element.scroll_into_view_if_needed()
    element.evaluate(AT_REST)
    element.scroll_into_view_if_needed()
    box = element.bounding_box()
    assert box is not None, "the element is not shown"
    return box
