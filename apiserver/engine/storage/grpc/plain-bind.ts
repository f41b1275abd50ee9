import { AsyncResource } from 'node:async_hooks';

type Bound<Args extends unknown[], Result> = (this: unknown, ...args: Args) => Result;

/** Later releases keep their own method: there `bind` costs 5 µs or less. */
const LAST_MAJOR_REPLACED = 20;

/**
 * On Node 20, replaces `AsyncResource.prototype.bind` by one without the deprecated property `asyncResource`. Defining that property costs
 * 16 µs, and node:http2 binds one function for each request, hence for each call of etcd. The replacement is process-wide, because node:http2
 * takes the method from the class. A bound function does the same as before. This file goes when Node 20 is no longer supported (ADR 71).
 */
export function replaceSlowBind(nodeVersion: string = process.versions.node): void {
  if (Number.parseInt(nodeVersion, 10) > LAST_MAJOR_REPLACED) return;
  const bound = new AsyncResource('probe').bind(() => undefined);
  if ('asyncResource' in bound) Reflect.set(AsyncResource.prototype, 'bind', bind);
}

function bind<Args extends unknown[], Result>(
  this: AsyncResource,
  run: Bound<Args, Result>,
  thisArg?: unknown,
): Bound<Args, Result> {
  const inScope = (on: unknown, args: Args): Result => this.runInAsyncScope(run, on, ...args);
  if (thisArg !== undefined) return (...args) => inScope(thisArg, args);
  return function bound(...args) {
    return inScope(this, args);
  };
}
