/** The headers of every page: nothing from elsewhere, nothing kept, nobody's frame. */

export interface PageHeaderOptions {
  /** Whether browsers reach this by https; then they are told to stay with it. */
  readonly https: boolean;
  /** Origins besides our own to which a form may lead on. */
  readonly formAction?: readonly string[];
}

export function pageHeaders({ https, formAction = [] }: PageHeaderOptions): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self'",
      ['form-action', "'self'", ...formAction].join(' '),
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    // None would make browsers say that forms come from nowhere.
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    ...(https ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
  };
}
