// Position of a native popover.

/** Opens the popover below its button, within the window and left of the right edge of its card. */
export function openBelow(popover, button) {
  popover.addEventListener('toggle', ({ newState }) => {
    if (newState !== 'open') return;
    const { left, bottom } = button.getBoundingClientRect();
    const card = button.closest('.card, .heading')?.getBoundingClientRect().right ?? Infinity;
    const room = Math.min(document.documentElement.clientWidth - 4, card) - popover.offsetWidth;
    popover.style.left = `${Math.max(4, Math.min(left, room))}px`;
    popover.style.top = `${bottom + 4}px`;
  });
}
