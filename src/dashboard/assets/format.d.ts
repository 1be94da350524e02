export function durationInWords(ms: number): string;
