import type { Endpoint } from '../../engine/registry/resource';
import type { HashedMembers, Members } from './base-document';
import { hashOf } from './base-document';
import { customDefinitions } from './custom-definitions';
import { customOperations } from './custom-operations';
import { SWAGGER } from './definitions';
import type { DocumentOptions, Served } from './documents';
import { byPath } from './documents';
import { moreSwaggerProtobuf } from './gnostic';
import { customOpenapi3Json } from './openapi3';
import { customMessage, definitionName } from './names';
import type { Operation } from './operations';
import { operationsOf } from './operations';
import { swaggerPathItem } from './path-items';
import { moreSwaggerJson } from './swagger';
import { turn } from './turn';

/** The two forms of v2, and how custom resources are written in them. */
const FORMS = { json: moreSwaggerJson, protobuf: moreSwaggerProtobuf } as const;
export type SwaggerFormat = keyof typeof FORMS;

export interface CustomNames {
  readonly paths: readonly string[];
  readonly definitions: readonly string[];
}

/** The parts of documents that are about custom resources. */
export interface CustomDocuments {
  /** What they add to a document of v2. Each is made once and kept until they are asked for without it. */
  members(endpoints: readonly Endpoint[], format: SwaggerFormat): Promise<readonly HashedMembers[]>;
  /** The paths and definitions that these are, by name. */
  names(endpoints: readonly Endpoint[]): CustomNames;
  /** The v3 document of one group version of them. */
  part(endpoints: readonly Endpoint[], builtIn: Served): Promise<Buffer>;
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
        // Whoever comes in between has it already.
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
    part: async (endpoints, builtIn) =>
      customOpenapi3Json({ endpoints, operations: operationsIn(endpoints), builtIn, version }),
  };
}

function hashed(members: Members): HashedMembers {
  return { ...members, hash: hashOf(members.paths, members.definitions) };
}
