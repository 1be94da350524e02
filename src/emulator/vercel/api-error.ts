/** An error answer of the API: `{"error":{"code","message"}}` with its status. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export const badRequest = (message: string) => new ApiError(400, 'bad_request', message);
export const notFound = (what: string) => new ApiError(404, 'not_found', `${what} not found.`);
