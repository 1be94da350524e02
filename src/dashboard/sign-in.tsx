/** The page where an operator or a viewer signs in. */
import type { FC } from 'hono/jsx';
import { Card } from './layout.js';

export interface SignInProps {
  /** The path to go on to. */
  readonly to: string;
  /** Why the last try did not work. */
  readonly problem: string | null;
}

export const SignIn: FC<SignInProps> = ({ to, problem }) => (
  <Card title="Sign in · Devin Outposts">
    <h1>Devin Outposts</h1>
    {problem && (
      <p class="said wrong" role="alert">
        {problem}
      </p>
    )}
    <form method="post" action="/sign-in" class="stack">
      <input type="hidden" name="to" value={to} />
      {/* Password managers want a name beside the secret. */}
      <input type="hidden" name="username" value="outposts" autocomplete="username" />
      <label>
        Secret
        <input
          type="password"
          name="secret"
          autocomplete="current-password"
          required
          autofocus
          maxlength={500}
        />
      </label>
      <button type="submit" class="first">
        Sign in
      </button>
    </form>
    <p class="dim">
      It is the value of <code>OPERATOR_SECRET</code>, or of <code>VIEWER_SECRET</code> for who only looks. On
      Vercel you find them in the project, under <b>Settings → Environment Variables</b>.
    </p>
  </Card>
);

export const NoSignIn: FC = () => (
  <Card title="Signing in is not set up · Devin Outposts">
    <h1>Signing in is not set up</h1>
    <p>
      Sessions are served without it. To see them here, add two variables to this deployment’s settings: on
      Vercel in the project, under <b>Settings → Environment Variables</b>, for production.
    </p>
    <ul class="plain">
      <li>
        <code>DEVIN_CONNECTION_SECRET</code>: 32 or more random characters
      </li>
      <li>
        <code>OPERATOR_SECRET</code>: 16 or more others, to sign in with (and <code>VIEWER_SECRET</code>, for
        who should only look)
      </li>
    </ul>
    <p>Then redeploy: a change counts from the next deployment on.</p>
  </Card>
);
