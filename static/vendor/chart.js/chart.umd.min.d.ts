// What the check of types (tsconfig.all.json) knows of Chart.js: a global whose members it does not check.
declare global {
  var Chart: any;
}
export {};
