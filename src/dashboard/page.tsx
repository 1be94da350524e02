/** The whole page. Needs no script to be read or to act; the script keeps it current. */
import type { FC } from 'hono/jsx';
import type { Visitor } from './admission.js';
import { Document, Way } from './layout.js';
import { type ActionContext, ActionForm, Live } from './sessions.js';
import type { ActionAnswer, FleetView } from './view.js';

export interface PageProps extends ActionContext {
  readonly title: string;
  readonly world: 'embedded' | 'local' | 'deployed';
  readonly view: FleetView;
  readonly visitor: Visitor;
  /** The answer to the action that led here, when the script is off. */
  readonly note: ActionAnswer | null;
}

export const Page: FC<PageProps> = ({ title, world, view, note, visitor, ...actions }) => (
  <Document title={title} script="/app.js">
    <Way visitor={visitor} here="/" />
    <header>
      <div>
        <h1>{title}</h1>
        <p class="dim">{WORLDS[world](view.speed)}</p>
      </div>
      <p id="connection" class="dim" role="status"></p>
      {actions.available.has('start') && <ActionForm name="start" token={actions.token} />}
    </header>
    <p id="note" role="status" class={note ? (note.ok ? 'done' : 'wrong') : ''} hidden={note === null}>
      {note?.message ?? ''}
    </p>
    <main>
      <Live view={view} {...actions} />
    </main>
  </Document>
);

const WORLDS: Record<PageProps['world'], (speed: number) => string> = {
  embedded: (speed) =>
    `Emulated Devin and Vercel on this machine${speed === 1 ? '' : `, ${speed} times as fast as real time`}`,
  local: () => 'Real Devin and Vercel, orchestrated from this machine',
  deployed: () => 'Devin’s sessions, each in a Vercel Sandbox of its own',
};
