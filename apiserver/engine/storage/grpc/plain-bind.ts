import { AsyncResource } from 'node:async_hooks';

type Bound<Args extends unknown[], Result> = (this: unknown, ...args: Args) => Result;

/**
 * Lets functions that are bound to an AsyncResource go without the property `asyncResource`. Node deprecates that property, and defines it
 * with two wrappers that warn for each bound function: 11 µs. Its HTTP/2 client binds a function for each request, so that every call of
 * etcd would pay them, which is a tenth of a small read. For the whole process, as the client takes the method from the class; what
 * a bound function does stays the same. Later releases of Node, which bind without that property, keep their own method (ADR 71).
 */
export function bindPlainly(): void {
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
