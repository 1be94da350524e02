/** The types that request handlers share. */
import type { CloudState } from './model.js';

export interface ApiRequest {
  /** Named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** The body as JSON; `{}` when it is empty. @throws ApiError 400. */
  json(): unknown;
}

/** JSON, lines of JSON as they come, or the bytes of a file. */
export type ApiAnswer =
  | { readonly json: object }
  | { readonly lines: AsyncIterable<object> }
  | { readonly file: string };

export type Handler = (state: CloudState, request: ApiRequest) => Promise<ApiAnswer>;
