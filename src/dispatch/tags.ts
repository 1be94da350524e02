/** The tags that make a sandbox ours, and the way back from a tag to its session. */

export const INSTALLATION_TAG = 'outposts-installation';
export const SESSION_TAG = 'outposts-session';

/** A tag's value is limited in length and characters; ids are not, so odd ones are encoded reversibly. */
export function sessionTags(installation: string, sessionId: string): Record<string, string> {
  return { [INSTALLATION_TAG]: installation, [SESSION_TAG]: encode(sessionId) };
}

/** The session that a sandbox's tags name; null when they name none. */
export function sessionOfTags(tags: Readonly<Record<string, string>>): string | null {
  const value = tags[SESSION_TAG];
  if (value === undefined) return null;
  return value.startsWith(ODD) ? Buffer.from(value.slice(ODD.length), 'base64url').toString() : value;
}

const ODD = 'b64.';
const encode = (id: string): string =>
  /^[A-Za-z0-9_-]+$/.test(id) ? id : ODD + Buffer.from(id).toString('base64url');
