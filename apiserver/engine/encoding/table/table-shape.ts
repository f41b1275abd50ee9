import type { ApiObject } from '../../../../shared/object/object';
import { apiVersionOf } from '../../../../shared/object/object';
import type { Clock } from '../../../../shared/concurrency/clock';
import type { Endpoint } from '../../registry/resource';
import type { ObjectTable } from '../../registry/object-table';
import { CREATED_AT_TABLE } from '../../registry/object-table';
import { decodeObject } from '../../../../shared/schema/decode';
import { versionIn } from '../../watch-cache/entry-layout';
import { Batch } from '../batch';
import { EncodedCache, PROCESS_BUDGET } from '../encoded-cache';
import type { Shape } from '../negotiation';
import type { JsonShape } from '../object-encoder';
import { partialShape } from '../partial-shape';
import { plainShape } from '../plain-shape';
import type { Source } from '../source';
import { parseSource, versionedBytes } from '../source';
import type { CellsJson } from './cells';
import { cellsAt, cellsJson, columnDefinitionsJson } from './cells';
import { withHeaders } from './headers';
import { inRowOrder } from './row-order';

export const INCLUDE_OBJECT = ['Metadata', 'Object', 'None'] as const;
/** The part of the object that a row contains besides the cells. */
export type IncludeObject = (typeof INCLUDE_OBJECT)[number];

export interface TableOptions {
  readonly shape: Shape;
  readonly includeObject: IncludeObject;
  /** The clock for ages. */
  readonly clock: Clock;
}

/** Approximate overhead of a cached row. */
const ROW_OVERHEAD_BYTES = 160;
const ROWS = new EncodedCache<CellsJson>(PROCESS_BUDGET, (cells) =>
  cells.reduce((sum, piece) => sum + (typeof piece === 'string' ? piece.length : 0), ROW_OVERHEAD_BYTES),
);

/** Returns the number of computed rows, for tests and measurements. */
export function rowsMade(): number {
  return ROWS.made;
}

/** Shows objects as rows of a Table. The cells of an entry are computed once; only ages are computed per answer. */
export function tableShape(endpoint: Endpoint, { shape, includeObject, clock }: TableOptions): JsonShape {
  const { table, id, objectOf } = rowsOf(endpoint);
  const rowId = `cells ${id}`;
  const apiVersion = apiVersionOf(shape);
  const head = `{"kind":"Table","apiVersion":${JSON.stringify(apiVersion)},"metadata":`;
  const definitions = columnDefinitionsJson(table.columns);
  const inner = includeObject === 'Object' ? plainShape(endpoint) : partialShape(endpoint, shape);
  const makeCells = (source: Source): CellsJson => cellsJson(table, objectOf(source));
  const cellsOf = (source: Source): CellsJson =>
    source.transient === true ? makeCells(source) : ROWS.get(source, rowId, () => makeCells(source));

  const element: JsonShape['element'] = (batch, source) => {
    batch.text(`{"cells":${cellsAt(cellsOf(source), clock.now())},"object":`);
    if (includeObject === 'None') batch.text('null');
    else if (includeObject === 'Metadata') inner.element(batch, source);
    else for (const piece of inner.object(source)) batch.bytes(piece);
    batch.text('}');
  };
  const oneRow = (source: Source, definitionsJson: string): readonly Buffer[] => {
    const batch = new Batch();
    const metadata = JSON.stringify({ selfLink: source.selfLink, resourceVersion: versionIn(source.bytes) });
    batch.text(`${head}${metadata},"columnDefinitions":${definitionsJson},"rows":[`);
    element(batch, source);
    batch.text(']}');
    return [batch.take()];
  };
  return {
    id: `${apiVersion} Table ${includeObject} ${endpoint.apiVersion} ${endpoint.row.kind} ${id}`,
    tellsAge: true,
    object: (source) => oneRow(source, definitions),
    inFrame: (source) => oneRow(source, 'null'),
    bookmark: ({ annotations, ...metadata }) => {
      const start = `${head}${JSON.stringify(metadata)},"columnDefinitions":null,"rows":[`;
      if (annotations === undefined) return [Buffer.from(`${start}]}`)];
      // Metadata of a Table has no annotations: clients look for the end of the initial events in the object of the row.
      const marked = { ...metadata, annotations };
      // The cells are those of an object without content, in the version of the table.
      const { object } = decodeObject(endpoint.stored.type, { metadata: marked });
      const cells = cellsAt(cellsJson(table, object), clock.now());
      return [
        Buffer.from(`${start}{"cells":${cells},"object":`),
        ...inner.bookmark(marked),
        Buffer.from('}]}'),
      ];
    },
    listHead: (metadata) => `${head}${JSON.stringify(metadata)},"columnDefinitions":${definitions},"rows":[`,
    isNullWhenEmpty: endpoint.custom === undefined && table === CREATED_AT_TABLE,
    ...(table.rowOrder === undefined ? {} : { inOrder: byRank(table.rowOrder) }),
    element,
    stream: (frames) => withHeaders(frames, definitions),
  };
}

function byRank(path: string): (sources: readonly Source[]) => Promise<readonly Source[]> {
  return async (sources) => inRowOrder(sources, path);
}

interface Rows {
  readonly table: ObjectTable;
  /** Equal ids mean equal cells for equal objects. */
  readonly id: string;
  /** Parses the object in the version of the table. */
  readonly objectOf: (source: Source) => ApiObject;
}

/**
 * Returns the table of an endpoint. All versions of a built-in kind share one; a custom resource has one per version,
 * which its definition may change.
 */
function rowsOf(endpoint: Endpoint): Rows {
  const { row, stored, custom, apiVersion } = endpoint;
  if (custom === undefined) {
    const { table = CREATED_AT_TABLE } = endpoint;
    const id = `${row.group}/${row.resource}`;
    return { table, id, objectOf: (source) => parseSource(source, stored) };
  }
  const { table, id } = custom.readTable();
  const { kind } = row;
  return {
    table,
    id: `${custom.id} ${id}`,
    objectOf: (source) => parseSource({ bytes: versionedBytes(endpoint, source) }, { kind, apiVersion }),
  };
}
