// The team of an object beside its name.

import { h } from '../ui/dom.js';

/**
 * A chip with the name of the team; null for an object that belongs to everybody.
 *
 * @param {{team?: string | null}} object
 */
export const teamChip = ({ team }) =>
  team ? h('span', { class: 'chip team', title: 'Team: only its members and admins see this' }, team) : null;
