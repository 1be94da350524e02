/** What every page has around it. No page needs a script to be read or to act. */
import type { Child, FC } from 'hono/jsx';
import type { Visitor } from './admission.js';

export interface DocumentProps {
  readonly title: string;
  readonly children: Child;
  /** Scripts of our own, as paths. */
  readonly script?: string;
  /** Loads the page anew, or another of our pages, after some seconds: for who has no script. */
  readonly refresh?: { readonly seconds: number; readonly to?: string } | undefined;
}

export const Document: FC<DocumentProps> = ({ title, children, script, refresh }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      {refresh && (
        <meta
          http-equiv="refresh"
          content={refresh.to ? `${refresh.seconds}; url=${refresh.to}` : String(refresh.seconds)}
        />
      )}
      <title>{title}</title>
      <link rel="icon" href="/icon.svg" type="image/svg+xml" />
      <link rel="stylesheet" href="/app.css" />
      {script && <script type="module" src={script}></script>}
    </head>
    <body>{children}</body>
  </html>
);

/** A page with one thing on it: signing in, connecting, how that went. */
export const Card: FC<DocumentProps> = ({ children, ...document }) => (
  <Document {...document}>
    <main class="narrow">{children}</main>
  </Document>
);

/** Where else there is to go, for who has signed in. */
export const Way: FC<{ visitor: Visitor; here: string }> = ({ visitor, here }) =>
  visitor.leave === null ? null : (
    <nav class="way" aria-label="Pages">
      {PLACES.map(([path, name]) => (
        <a href={path} aria-current={path === here ? 'page' : undefined}>
          {name}
        </a>
      ))}
      <form method="post" action={visitor.leave} data-plain="">
        <input type="hidden" name="token" value={visitor.token} />
        <button type="submit">Sign out ({visitor.role})</button>
      </form>
    </nav>
  );

const PLACES = [
  ['/', 'Sessions'],
  ['/connect', 'Connection'],
] as const;

export const drawn = async (page: { toString(): string | Promise<string> }): Promise<string> =>
  `<!doctype html>${await page.toString()}`;
