import { badRequest } from '../../../shared/errors/status-error';
import type { Answer, Exchange } from '../request/exchange';
import type { Carried, Connection } from '../registry/connection';
import type { Endpoint } from '../registry/resource';
import type { VerbContext } from './context';
import { isInNamespace, methodNotAllowed, unknownPath } from './target';

const METHODS: Readonly<Record<Carried, ReadonlySet<string>>> = {
  upgrades: new Set(['GET', 'POST']),
  requests: new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']),
  text: new Set(['GET']),
};

/** The position of the path after the resource: name, subresource, then the path on the other server. */
const SUBPATH_AT = 3;

/** The connection of the subresource, if it proxies to another server. */
export function connectionAt(
  { specialSubresources, subresources }: Endpoint,
  { info }: Exchange,
): Connection | undefined {
  const special = specialSubresources?.[info.subresource];
  return special?.is === 'connection' && subresources.has(info.subresource) ? special.to : undefined;
}

/** Proxies the request. Throws NotFound for an unknown path, and MethodNotAllowed (405). */
export async function connect(
  context: VerbContext,
  exchange: Exchange,
  { endpoint, connection }: { readonly endpoint: Endpoint; readonly connection: Connection },
): Promise<Answer> {
  const { info } = exchange;
  const { row } = endpoint;
  const rest = info.parts.slice(SUBPATH_AT);
  const isPlace = row.namespaced === isInNamespace(info) && info.leadingVerb === '';
  if (context.connector === undefined || !isPlace) throw unknownPath();
  if (connection.carries !== 'requests' && rest.length > 0) throw unknownPath();
  if (!METHODS[connection.carries].has(exchange.method)) throw methodNotAllowed();
  // Logs are read like an object, and reads ignore dryRun.
  if (connection.carries !== 'text' && exchange.query.has('dryRun'))
    throw badRequest('dryRun is not supported');
  return context.connector.answer(context, exchange, {
    endpoint,
    connection,
    namespace: info.namespace,
    name: info.parts[1] ?? '',
    subresource: info.subresource,
    subPath: subPathOf(rest, info.path),
  });
}

function subPathOf(rest: readonly string[], path: string): string {
  const joined = rest.length === 0 ? '' : `/${rest.join('/')}`;
  return path.endsWith('/') && !joined.endsWith('/') ? `${joined}/` : joined;
}
