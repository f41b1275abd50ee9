import type { Request, RequestHandler, Response, Router } from 'express';
import express from 'express';
import type { Registry } from '../registry/registry';
import type { Answer, Exchange } from '../request/exchange';

/** The pages of one subject: health checks, metrics, OpenAPI … */
export interface PageRoutes {
  readonly router: Router;
  /** The paths that the index of paths (`/`) lists. */
  readonly paths: readonly string[];
}

/** What a page is made of; `res.locals` of the routes. */
export interface PageRequest {
  readonly exchange: Exchange;
  readonly registry: Registry;
}

/**
 * Returns the answer of a page, or undefined if its path leads to no page: the next route is tried then. Only the answer writer writes
 * responses, so that pages are audited, measured and compressed like all other requests.
 */
export type PageHandler = (request: PageRequest) => Answer | undefined | Promise<Answer | undefined>;

/**
 * Creates an Express router for pages. Paths are case-sensitive.
 *
 * @param trailingSlash whether a path is also matched with a slash at its end
 */
export function createPageRouter(trailingSlash: 'strict' | 'optional' = 'strict'): Router {
  return express.Router({ caseSensitive: true, strict: trailingSlash === 'strict' });
}

/** Turns a page handler into a handler of Express. */
export function page(handle: PageHandler): RequestHandler {
  return async (_request, response, next) => {
    const { resolve, ...request } = response.locals as PageLocals;
    const answer = await handle(request);
    if (answer === undefined) next();
    else resolve(answer);
  };
}

interface PageLocals extends PageRequest {
  readonly resolve: (answer: Answer) => void;
}

/**
 * Routes one request. Resolves with the answer of the page, or undefined if no route has one; rejects with the error of its handler.
 * Works for every protocol: Express sees the method and the path, and no request or response of Node.
 */
export async function routePage(router: Router, request: PageRequest): Promise<Answer | undefined> {
  const { method, path } = request.exchange;
  // `OPTIONS *`, and a URL whose scheme is not HTTP, whose path Express would read.
  if (!path.startsWith('/')) return undefined;
  return new Promise((resolve, reject) => {
    const locals: PageLocals = { ...request, resolve };
    router(
      { method, url: path.replace(CUT_BY_EXPRESS, encodeURIComponent) } as unknown as Request,
      { locals } as unknown as Response,
      (error: unknown) => {
        if (error === undefined || error === null) resolve(undefined);
        else reject(error);
      },
    );
  });
}

/** Characters at which Express would end the path. A client can send them without percent-encoding. */
const CUT_BY_EXPRESS = /[\s#]/gu;
