/**
 * A value that must not be printed.
 *
 * Shows as `[secret]` wherever a program prints things by accident: template
 * strings, JSON, console and util.inspect. Only `reveal()` gives it, and only
 * the one who sends it somewhere should call that.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]';
  }
}
