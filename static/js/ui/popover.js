// Position of a native popover.

/** Opens the popover below its button, within the window. */
export function openBelow(popover, button) {
  popover.addEventListener('toggle', ({ newState }) => {
    if (newState !== 'open') return;
    const { left, bottom } = button.getBoundingClientRect();
    const room = document.documentElement.clientWidth - popover.offsetWidth - 4;
    popover.style.left = `${Math.max(4, Math.min(left, room))}px`;
    popover.style.top = `${bottom + 4}px`;
  });
}
