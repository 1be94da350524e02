/** The whole page. Needs no script to be read or to act; the script keeps it current. */
import type { FC } from 'hono/jsx';
import { type ActionContext, ActionForm, Live } from './sessions.js';
import type { ActionAnswer, FleetView } from './view.js';

export interface PageProps extends ActionContext {
  readonly title: string;
  readonly world: 'embedded' | 'local';
  readonly view: FleetView;
  /** The answer to the action that led here, when the script is off. */
  readonly note: ActionAnswer | null;
}

export const Page: FC<PageProps> = ({ title, world, view, note, ...actions }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{title}</title>
      <link rel="icon" href="/icon.svg" type="image/svg+xml" />
      <link rel="stylesheet" href="/app.css" />
      <script type="module" src="/app.js"></script>
    </head>
    <body>
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
    </body>
  </html>
);

const WORLDS: Record<PageProps['world'], (speed: number) => string> = {
  embedded: (speed) =>
    `Emulated Devin and Vercel on this machine${speed === 1 ? '' : `, ${speed} times as fast as real time`}`,
  local: () => 'Real Devin and Vercel, orchestrated from this machine',
};
