// Names of the roles of bars.

const NAMES = ['worker', 'parameter server', 'transfer', 'suspended worker'];

export function roleName(role, count = 1) {
  const name = NAMES[role] ?? 'bar';
  return count === 1 ? name : `${name}s`;
}
