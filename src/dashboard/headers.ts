/** The headers of every page: nothing from elsewhere, nothing kept, nobody's frame. */

export interface PageHeaderOptions {
  /** Whether browsers reach this by https; then they are told to stay with it. */
  readonly https: boolean;
  /** For an address that holds something that nobody else is to be told; its page may have no forms. */
  readonly unreferred?: boolean;
}

export function pageHeaders({
  https,
  unreferred = false,
}: PageHeaderOptions): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    // None would make browsers say that forms come from nowhere.
    'Referrer-Policy': unreferred ? 'no-referrer' : 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    ...(https ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
  };
}
