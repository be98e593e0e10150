// The side column of the run page, which there is only in wide windows.

const WIDE = '(min-width: 1440px)'; // as in workbench.css

/** True if the panels are in two columns, side by side. */
export const hasSideColumn = () => matchMedia(WIDE).matches;
