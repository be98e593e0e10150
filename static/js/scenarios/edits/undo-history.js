// Values with undo and redo: every change stores a complete value, so an undo is never partial.

export class History {
  constructor(value, onChange) {
    this.past = [];
    this.future = [];
    this.value = value;
    this.onChange = onChange;
  }

  change(value) {
    this.past.push(this.value);
    this.future = [];
    this.value = value;
    this.onChange();
  }

  undo() {
    if (!this.past.length) return;
    this.future.push(this.value);
    this.value = this.past.pop();
    this.onChange();
  }

  redo() {
    if (!this.future.length) return;
    this.past.push(this.value);
    this.value = this.future.pop();
    this.onChange();
  }
}
