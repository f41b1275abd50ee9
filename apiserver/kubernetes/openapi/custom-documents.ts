import type { Endpoint } from '../../engine/registry/resource';
import type { HashedMembers, Members } from './base-document';
import { hashOf } from './base-document';
import { customDefinitions } from './custom-definitions';
import { customOperations } from './custom-operations';
import { SWAGGER } from './definitions';
import type { DocumentOptions } from './documents';
import { byPath } from './documents';
import { moreSwaggerProtobuf } from './gnostic';
import type { BuiltInSchemas } from './openapi3';
import { customOpenapi3Json } from './openapi3';
import { customMessage, definitionName } from './names';
import type { Operation } from './operations';
import { operationsOf } from './operations';
import { swaggerPathItem } from './path-items';
import { moreSwaggerJson } from './swagger';
import { turn } from './turn';

/** The two formats of v2 and their encoders of custom resources. */
const FORMS = { json: moreSwaggerJson, protobuf: moreSwaggerProtobuf } as const;
export type SwaggerFormat = keyof typeof FORMS;

export interface CustomNames {
  readonly paths: readonly string[];
  readonly definitions: readonly string[];
}

/** The parts of documents that describe custom resources. */
export interface CustomDocuments {
  /** Returns the parts of a v2 document. Each is built once and cached until a request for a list without it. */
  members(endpoints: readonly Endpoint[], format: SwaggerFormat): Promise<readonly HashedMembers[]>;
  /** Returns the names of their paths and definitions. */
  names(endpoints: readonly Endpoint[]): CustomNames;
  /** Returns the v3 document of one of their group versions. */
  part(endpoints: readonly Endpoint[], schemas: BuiltInSchemas): Promise<Buffer>;
}

export function createCustomDocuments(options: DocumentOptions): CustomDocuments {
  const made: Record<SwaggerFormat, Map<string, HashedMembers>> = {
    json: new Map(),
    protobuf: new Map(),
  };
  const { serverSideApply, version } = options;
  const operationsIn = (endpoints: readonly Endpoint[]): readonly Operation[] =>
    endpoints.flatMap((endpoint) => customOperations(endpoint, operationsOf(endpoint, serverSideApply)));
  const membersOf = (endpoint: Endpoint, format: SwaggerFormat): Members => {
    const paths = [...byPath(operationsIn([endpoint]))].map(
      ([path, operations]) => [path, swaggerPathItem(path, operations)] as const,
    );
    return FORMS[format](paths, customDefinitions(endpoint, SWAGGER));
  };
  return {
    async members(endpoints, format) {
      const all = new Map<string, HashedMembers>();
      for (const endpoint of endpoints) {
        const id = endpoint.custom?.id ?? '';
        const known = made[format].get(id);
        const members = known ?? hashed(membersOf(endpoint, format));
        all.set(id, members);
        // Cache it at once, so that a concurrent request reuses it.
        made[format].set(id, members);
        if (known === undefined) await turn();
      }
      made[format] = all;
      return [...all.values()];
    },
    names: (endpoints) => ({
      paths: [...byPath(operationsIn(endpoints)).keys()],
      definitions: endpoints.flatMap(({ row }) =>
        [row.kind, row.listKind].map((kind) => definitionName(customMessage(row, kind))),
      ),
    }),
    part: async (endpoints, schemas) =>
      customOpenapi3Json({ endpoints, operations: operationsIn(endpoints), schemas, version }),
  };
}

function hashed(members: Members): HashedMembers {
  return { ...members, hash: hashOf(members.paths, members.definitions) };
}
