/** What the value of an option may be: each answers it, or throws what commander tells. */
import { InvalidArgumentError } from 'commander';

export function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It should be a whole number from ${least} to ${most}.`);
  };
}

export function speed(text: string): number {
  const value = Number(text);
  if (/^\d{1,4}(\.\d{1,3})?$/.test(text) && value >= 0.1 && value <= 1000) return value;
  throw new InvalidArgumentError('It should be a number from 0.1 to 1000.');
}

export function loopback(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname))
    return url.origin;
  throw new InvalidArgumentError('It should be an address on this machine, such as http://127.0.0.1:4000.');
}
