/** The table that ends a run of scripted sessions. */
import { inWords } from '../dashboard/lifecycle.js';
import { clean, columns, timeTaken } from './text.js';

export interface SummaryRow {
  readonly id: string;
  readonly episodes: number;
  readonly outcome: string | null;
  /** Milliseconds from the start of the run; null when it never came to that. */
  readonly claimedAfterMs: number | null;
  readonly connectedAfterMs: number | null;
  readonly totalMs: number | null;
  /** In words, how the session did what its script expects. */
  readonly checks: string;
}

const HEAD = ['Session', 'Episodes', 'Outcome', 'Claimed after', 'Connected after', 'Over after', 'Checks'];

export function summaryTable(rows: readonly SummaryRow[]): string {
  return columns([HEAD, ...rows.map(cellsOf)]).join('\n');
}

function cellsOf(row: SummaryRow): string[] {
  return [
    clean(row.id),
    String(row.episodes),
    row.outcome === null ? '-' : clean(inWords(row.outcome)),
    timeTaken(row.claimedAfterMs),
    timeTaken(row.connectedAfterMs),
    timeTaken(row.totalMs),
    clean(row.checks),
  ];
}
