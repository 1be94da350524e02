import { randomBytes } from 'node:crypto';

/** A fresh id in the API's manner: `sbx_…`, `cmd_…`, `snap_…`. */
export function newId(kind: 'sbx' | 'cmd' | 'snap'): string {
  return `${kind}_${randomBytes(15).toString('base64url').replace(/[-_]/g, '0')}`;
}
