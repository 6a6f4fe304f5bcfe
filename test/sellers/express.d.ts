/** As much of Express 5 as the sellers use; its own types are not installed. */
declare module 'express' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  export interface Request extends IncomingMessage {
    readonly path: string;
    readonly protocol: 'http' | 'https';
    readonly query: Readonly<Record<string, unknown>>;
    /** Set by `express.json()`; undefined before it and where the request had no JSON. */
    readonly body: unknown;
  }
  export interface Response extends ServerResponse {
    type(contentType: string): this;
    send(body: string): this;
    json(body: unknown): this;
  }
  export type NextFunction = (error?: unknown) => void;
  export type Handler = (request: Request, response: Response, next: NextFunction) => unknown;
  export interface Express extends RequestListener {
    use(handler: Handler): this;
    get(path: string, handler: Handler): this;
    post(path: string, handler: Handler): this;
  }

  function express(): Express;
  namespace express {
    function json(): Handler;
  }
  export default express;
}
