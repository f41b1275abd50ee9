import { mutateBytes } from './mutate-bytes';
import type { Material, Mutator } from './mutator';

/** Changes one to three elements of DER, or the content of a PEM block, and recomputes all lengths, so that only that is wrong. */
export const mutateDer: Mutator = (input, material) => {
  const pem = PEM.exec(input.toString('latin1'));
  if (pem === null) return changedElements(input, material);
  const [whole, label = '', base64 = ''] = pem;
  const changed = changedElements(Buffer.from(base64, 'base64'), material);
  const text = input.toString('latin1');
  return Buffer.from(
    text.replace(whole, () => pemOf(label, changed)),
    'latin1',
  );
};

export function pemOf(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----`;
}

const PEM = /-----BEGIN ([^-\n]+)-----\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----/;
const TAGS = [
  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1e, 0x30, 0x31, 0x80, 0x82, 0x86,
  0x87, 0xa0, 0xa3, 0x1f, 0xff,
];
const LEVELS_MAX = 600;

interface Element {
  tag: number;
  /** Undefined for one that holds bytes. */
  children: Element[] | undefined;
  bytes: Buffer;
  /** Written instead of the true length. */
  length?: readonly number[];
}

function changedElements(der: Buffer, material: Material): Buffer {
  const { random } = material;
  const roots = elementsOf(der);
  if (roots === undefined || roots.length === 0) return mutateBytes(der, material);
  for (let left = 1 + random.below(3); left > 0; left -= 1) {
    const all = allOf(roots);
    const one = random.pick(all);
    random.pick(CHANGES)(one, material, all);
  }
  return written(roots);
}

type Change = (element: Element, material: Material, all: readonly Element[]) => void;

const CHANGES: readonly Change[] = [
  (element, { random }) => {
    element.tag = random.pick(TAGS);
  },
  (element, { random }) => {
    element.length = random.pick([
      [0],
      [0x80],
      [0x81, 0],
      [0x84, 0xff, 0xff, 0xff, 0xff],
      [0x88, 1, 0, 0, 0, 0, 0, 0, 0],
      [0x7f],
      [0x81, 0x10],
    ]);
  },
  (element, { random }, all) => {
    const donor = random.pick(all);
    const [copy] = elementsOf(written([donor])) ?? [];
    element.bytes = copy?.bytes ?? donor.bytes;
    element.children = copy?.children;
  },
  (element, { random }) => {
    const { children } = element;
    if (children === undefined || children.length === 0) element.bytes = Buffer.alloc(0);
    else children.splice(random.below(children.length), 1);
  },
  (element, { random }) => {
    const { children } = element;
    if (children === undefined || children.length === 0) return;
    const copy = random.pick(children);
    children.splice(
      random.below(children.length + 1),
      0,
      ...Array.from({ length: 1 + random.below(30) }, () => copy),
    );
  },
  (element, material) => {
    if (element.children === undefined) element.bytes = mutateBytes(element.bytes, material);
  },
  (element, { random }) => {
    if (element.children === undefined || !random.chance(0.2)) return;
    let inner: Element = { tag: element.tag, children: element.children, bytes: element.bytes };
    for (let level = random.below(LEVELS_MAX); level > 0; level -= 1)
      inner = { tag: 0x30, children: [inner], bytes: Buffer.alloc(0) };
    element.children = [inner];
  },
];

/** Undefined for what is no DER. */
function elementsOf(bytes: Buffer): Element[] | undefined {
  const elements: Element[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const tag = bytes[offset] ?? 0;
    const first = bytes[offset + 1] ?? 0;
    const more = first < 0x80 ? 0 : first - 0x80;
    if (more > 3 || offset + 2 + more > bytes.length) return undefined;
    const length = more === 0 ? first : bytes.readUIntBE(offset + 2, more);
    const start = offset + 2 + more;
    if (start + length > bytes.length) return undefined;
    const content = bytes.subarray(start, start + length);
    elements.push({ tag, bytes: content, children: (tag & 0x20) === 0 ? undefined : elementsOf(content) });
    offset = start + length;
  }
  return elements;
}

function allOf(elements: readonly Element[]): readonly Element[] {
  return elements.flatMap((each) => [each, ...allOf(each.children ?? [])]);
}

function written(elements: readonly Element[]): Buffer {
  return Buffer.concat(
    elements.map((each) => {
      const content = each.children === undefined ? each.bytes : written(each.children);
      return Buffer.concat([Buffer.from([each.tag, ...(each.length ?? lengthOf(content.length))]), content]);
    }),
  );
}

function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length];
  return length < 0x1_00
    ? [0x81, length]
    : length < 0x1_00_00
      ? [0x82, length >> 8, length & 0xff]
      : [0x83, length >> 16, (length >> 8) & 0xff, length & 0xff];
}
