import type { JsonSchema } from '../../shared/cel/schema/data-types';
import { evaluateRules } from '../../shared/cel/schema/evaluate-rules';
import { pendingRules, ruleTreeOf } from '../../shared/cel/schema/rule-tree';
import type { RuleNode } from '../../shared/cel/schema/rule-tree';
import type { Table } from './table';
import { microseconds, milliseconds } from './table';

/** What the event loop compiles and spends at most (`apiserver/kubernetes/kinds/rules/expression-bounds.ts`). */
const SOURCE_LENGTH_MAX = 1_500;
const LOOP_COST_MAX = 20_000;

/** What a typical rule may take: to evaluate in microseconds, and to compile in milliseconds. */
const EVALUATE_BAR_US = 5;
const COMPILE_BAR_MS = 1;
/** Evaluations per measurement, measurements of each rule, and how often one is compiled. */
const EVALUATIONS = 2_000;
const ROUNDS = 15;
const COMPILATIONS = 40;

const TEXT: JsonSchema = { type: 'string', maxLength: 64 };
const NUMBER: JsonSchema = { type: 'integer' };

const list = (items: JsonSchema, maxItems = 16): JsonSchema => ({ type: 'array', maxItems, items });
const object = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  properties,
});

/** The specification of the resource that all rules validate. */
const SPEC = {
  replicas: NUMBER,
  minReplicas: NUMBER,
  name: TEXT,
  other: TEXT,
  mode: { type: 'string', enum: ['Fast', 'Safe'] },
  duration: TEXT,
  memory: TEXT,
  address: TEXT,
  labels: { type: 'object', maxProperties: 16, additionalProperties: TEXT },
  ports: list(object({ name: TEXT, port: NUMBER, protocol: TEXT })),
  hosts: list(TEXT),
} satisfies Record<string, JsonSchema>;

const PORTS = Array.from({ length: 8 }, (_, index) => ({
  name: `port-${String(index)}`,
  port: 8_000 + index,
  protocol: 'TCP',
}));

const OBJECT = {
  replicas: 3,
  minReplicas: 1,
  name: 'gateway-of-the-example',
  mode: 'Fast',
  duration: '1h30m',
  memory: '512Mi',
  address: '192.168.0.1',
  labels: { app: 'web', tier: 'front', zone: 'a', team: 'edge' },
  ports: PORTS,
  hosts: ['a.example.com', 'b.example.com', 'c.example.com', 'd.example.com'],
};

/** Rules as public definitions have them. All are true for the object. */
const TYPICAL: readonly (readonly [name: string, rule: string])[] = [
  ['two numbers', 'self.minReplicas <= self.replicas'],
  ['exactly one of two fields', 'has(self.name) != has(self.other)'],
  ['a field that depends on another', "self.mode != 'Safe' || has(self.hosts)"],
  ['a field that must not change', '!has(oldSelf.name) || self.name == oldSelf.name'],
  ['a pattern', "self.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')"],
  [
    'a text, in parts',
    "self.name.startsWith('gateway') && !self.name.contains('..') && size(self.name) < 64",
  ],
  ['one of several texts', "self.mode in ['Fast', 'Safe', 'None']"],
  ['a duration', "duration(self.duration) <= duration('2h')"],
  ['a quantity', "quantity(self.memory).isLessThan(quantity('1Gi'))"],
  ['an address', 'ip(self.address).family() == 4'],
  ['all of 4 texts', "self.hosts.all(h, h.endsWith('.example.com'))"],
  ['all of 4 keys', 'self.labels.all(k, size(k) < 64)'],
  ['all of 8 objects', 'self.ports.all(p, p.port > 0 && p.port < 65536)'],
  ['one of 8 objects', "self.ports.exists(p, p.name == 'port-7')"],
  ['the sum of a filter', "self.ports.filter(p, p.protocol == 'TCP').size() == 8"],
  ['each of 8 objects with each other', 'self.ports.all(a, self.ports.exists_one(b, a.name == b.name))'],
];

/** The rule above that looks at 64 pairs is not typical. */
const UNUSUAL = 'each of 8 objects with each other';

/** Rules that cost as much as one may, of units that take long. */
const WORST: readonly (readonly [name: string, rule: string])[] = [
  ['numbers', 'self.all(a, self.all(b, self.all(c, a + b + c >= 0)))'],
  ['texts', "self.all(a, self.all(b, self.all(c, string(a) + string(b) != string(c) + 'x')))"],
  ['lists', 'self.all(a, self.all(b, [a, b].map(c, c + 1).filter(d, d > 0).size() > 0))'],
  ['maps', "self.all(a, self.all(b, {'a': a, 'b': b}.all(k, k != 'c')))"],
  ['patterns', "self.all(a, self.all(b, (string(a) + string(b)).matches('(a|b|[0-9])*[0-9]$')))"],
  [
    'times',
    "self.all(a, self.all(b, timestamp('2020-01-01T00:00:00Z') + duration(string(a) + 's') != timestamp(b)))",
  ],
];

/**
 * Measures how long rules of definitions take to compile and to evaluate, with the walk over the object, and how long rules at their limit
 * hold the event loop before their request is repeated in a worker.
 */
export function measureExpressions(): Promise<Table> {
  const typical = TYPICAL.map(([name, rule]) => measureTypical(name, rule));
  const worst = WORST.map(([name, rule]) => measureWorst(name, rule));
  const slowest = Math.max(...typical.filter(({ isTypical }) => isTypical).map(({ us }) => us));
  const longest = Math.max(...worst.map(({ ms }) => ms));
  return Promise.resolve({
    title: 'Rules in CEL',
    header: ['rule', 'compile', 'evaluate', 'on the event loop at most'],
    rows: [...typical, ...worst].map(({ row }) => row),
    notes: [
      `The bars of a typical rule are ${String(COMPILE_BAR_MS)} ms to compile and ${String(EVALUATE_BAR_US)} µs to evaluate; the slowest one took ${microseconds(slowest)}.`,
      `A rule at its limit holds the event loop for ${milliseconds(longest)} at most. Up to ${String(SOURCE_LENGTH_MAX)} characters are compiled there.`,
    ],
  });
}

interface Measured {
  readonly row: readonly string[];
}

function measureTypical(name: string, rule: string): Measured & { us: number; isTypical: boolean } {
  const schema = object({ spec: { ...object(SPEC), 'x-kubernetes-validations': [{ rule }] } });
  const resource = { spec: OBJECT };
  const compiled = Array.from({ length: COMPILATIONS }, () => timed(() => compile(schema)));
  const tree = compile(schema);
  const problems = evaluateRules(tree, resource, resource);
  if (problems.length > 0) throw new Error(`${rule}: ${JSON.stringify(problems)}`);
  const rounds = Array.from({ length: ROUNDS }, () =>
    timed(() => {
      for (let count = 0; count < EVALUATIONS; count += 1) evaluateRules(tree, resource, resource);
    }),
  );
  const us = (median(rounds) / EVALUATIONS) * 1_000;
  return {
    us,
    isTypical: name !== UNUSUAL,
    row: [name, milliseconds(median(compiled)), microseconds(us), ''],
  };
}

/** The first evaluation of a rule, whose code is not optimized yet, until the event loop abandons it. */
function measureWorst(name: string, rule: string): Measured & { ms: number } {
  const numbers: JsonSchema = { ...list(NUMBER, 1_000), 'x-kubernetes-validations': [{ rule }] };
  const tree = compile(object({ numbers }));
  const resource = { numbers: Array.from({ length: 100 }, (_, index) => index) };
  let isAbandoned = false;
  const onCost = (cost: number): void => {
    isAbandoned = cost > LOOP_COST_MAX;
    if (isAbandoned) throw new Error('abandoned');
  };
  const ms = timed(() => {
    try {
      evaluateRules(tree, resource, undefined, { onCost });
    } catch (error) {
      if (!isAbandoned) throw error;
    }
  });
  if (!isAbandoned) throw new Error(`not at the limit: ${rule}`);
  return { ms, row: [`at the limit: ${name}`, '', '', milliseconds(ms)] };
}

function compile(schema: JsonSchema): RuleNode {
  const tree = ruleTreeOf(schema);
  if (tree === undefined) throw new Error('no rules');
  for (const rules of pendingRules(tree)) rules.compileNext();
  return tree;
}

/** Returns the CPU time of the work in milliseconds, which other processes do not add to. */
function timed(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
