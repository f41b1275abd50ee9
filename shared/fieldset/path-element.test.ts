import { singleKeyElement, valueElement } from './path-element';

test('keys of items are formatted exactly, even invalid ones', () => {
  expect(valueElement(9_007_199_254_740_993n)).toBe('v:9007199254740993');
  expect(singleKeyElement('name', { a: [9_007_199_254_740_993n] })).toBe(
    'k:{"name":{"a":[9007199254740993]}}',
  );
});
