import { itJudges, type Row, schemaOf, texts } from './testing/rules.ts'

const rows: readonly Row[] = [
  {
    name: 'int or string',
    schema: schemaOf({
      type: 'object',
      properties: { o: { 'x-kubernetes-int-or-string': true } },
      'x-kubernetes-validations': [
        { rule: "self.o.startsWith('a')" },
        { rule: 'self.o + 1 > 0' },
        { rule: "self.o > 'b'" },
      ],
    }),
    spec: { o: 5 },
    errors: [
      `spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.o.startsWith('a')`,
      `spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.o > 'b'`,
    ],
  },
  {
    name: 'values of scalars, lists and maps',
    schema: schemaOf({
      type: 'object',
      properties: {
        n: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 3', message: 'too small' }] },
        t: { type: 'string', 'x-kubernetes-validations': [{ rule: "self == 'a'" }] },
        l: {
          type: 'array',
          items: { type: 'string' },
          'x-kubernetes-validations': [{ rule: 'self.size() > 3' }],
        },
        m: {
          type: 'object',
          additionalProperties: { type: 'string', 'x-kubernetes-validations': [{ rule: "self != 'bad'" }] },
        },
      },
    }),
    spec: { n: 1, t: 'b', l: ['x'], m: { 'a.b': 'bad', c: 'ok' } },
    errors: [
      'spec.n: Invalid value: 1: too small',
      `spec.t: Invalid value: "b": failed rule: self == 'a'`,
      'spec.l: Invalid value: failed rule: self.size() > 3',
      `spec.m[a.b]: Invalid value: "bad": failed rule: self != 'bad'`,
    ],
  },
  {
    name: 'list of type map',
    schema: schemaOf({
      type: 'object',
      properties: {
        size: { type: 'integer' },
        name: { type: 'string' },
        tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, port: { type: 'integer' } },
            'x-kubernetes-validations': [
              { rule: 'self.port >= oldSelf.port', message: 'port may not shrink' },
              { rule: 'self.port < 100', message: 'low port' },
            ],
          },
        },
        m: { type: 'object', additionalProperties: { type: 'string' } },
      },
    }),
    spec: {
      ports: [
        { name: 'b', port: 1 },
        { name: 'a', port: 500 },
      ],
    },
    old: {
      ports: [
        { name: 'a', port: 600 },
        { name: 'b', port: 1 },
      ],
    },
    errors: ['spec.ports[1]: Invalid value: port may not shrink', 'spec.ports[1]: Invalid value: low port'],
  },
  {
    name: 'budget',
    schema: schemaOf({
      type: 'array',
      items: {
        type: 'object',
        properties: { t: { type: 'array', items: { type: 'string' } } },
        'x-kubernetes-validations': [{ rule: 'self.t.all(x, self.t.all(y, x != y || x == y))' }],
      },
    }),
    spec: new Array(25).fill({ t: texts(300) }),
    errors: [
      'spec[18]: Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run',
    ],
  },
  {
    name: 'formats and names',
    schema: schemaOf({
      type: 'object',
      properties: {
        d: { type: 'string', format: 'date-time' },
        e: { type: 'string', format: 'duration' },
        f: { type: 'string', format: 'date' },
        b: { type: 'string', format: 'byte' },
        'x-y/z.w__v': { type: 'integer' },
        namespace: { type: 'string' },
        num: { type: 'number' },
      },
      'x-kubernetes-validations': [
        { rule: "self.d > timestamp('2020-01-01T00:00:00Z')" },
        { rule: "self.e < duration('1s')" },
        { rule: 'self.f.getFullYear() == 1' },
        { rule: "self.b == b'hello!'" },
        { rule: 'self.x__dash__y__slash__z__dot__w__underscores__v == 6' },
        { rule: "self.__namespace__ == 'q'" },
        { rule: 'self.num == 1.5' },
        { rule: 'self.num + 1.0 == 3.0' },
      ],
    }),
    spec: {
      d: '2019-01-01T00:00:00Z',
      e: '1h',
      f: '2020-02-03',
      b: 'aGVsbG8=',
      'x-y/z.w__v': 5,
      namespace: 'p',
      num: 2,
    },
    errors: [
      "spec: Invalid value: failed rule: self.d > timestamp('2020-01-01T00:00:00Z')",
      "spec: Invalid value: failed rule: self.e < duration('1s')",
      'spec: Invalid value: failed rule: self.f.getFullYear() == 1',
      "spec: Invalid value: failed rule: self.b == b'hello!'",
      'spec: Invalid value: failed rule: self.x__dash__y__slash__z__dot__w__underscores__v == 6',
      "spec: Invalid value: failed rule: self.__namespace__ == 'q'",
      'spec: Invalid value: failed rule: self.num == 1.5',
    ],
  },
  {
    name: 'nullable',
    schema: schemaOf({
      type: 'object',
      properties: {
        n: { type: 'string', nullable: true },
        l: { type: 'array', items: { type: 'string', nullable: true } },
      },
      'x-kubernetes-validations': [
        { rule: 'has(self.n)' },
        { rule: 'self.l.all(x, x == null || x.size() > 1)' },
        { rule: 'self.l[0] != null' },
        { rule: 'self.l.all(x, x.size() > 1)' },
      ],
    }),
    spec: { n: null, l: [null, 'a'] },
    errors: [
      'spec: Invalid value: failed rule: has(self.n)',
      `spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:17: found no matching overload for '_==_' applied to '(string, null)'\n` +
        ' | self.l.all(x, x == null || x.size() > 1)\n' +
        ' | ................^',
      `spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:11: found no matching overload for '_!=_' applied to '(string, null)'\n` +
        ' | self.l[0] != null\n' +
        ' | ..........^',
      'spec: Invalid value: failed rule: self.l.all(x, x.size() > 1)',
    ],
  },
  {
    name: 'embedded resources',
    schema: schemaOf({
      type: 'object',
      properties: {
        e: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
          'x-kubernetes-validations': [{ rule: "self.kind == 'X'" }, { rule: "self.metadata.name == 'y'" }],
        },
      },
    }),
    spec: { e: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'n' }, zz: 1 } },
    errors: [
      "spec.e: Invalid value: failed rule: self.kind == 'X'",
      "spec.e: Invalid value: failed rule: self.metadata.name == 'y'",
    ],
  },
  {
    name: 'what is not seen',
    schema: schemaOf({
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self == oldSelf' }],
    }),
    spec: { a: 1, u: { x: 1 } },
    old: { a: 1, u: { x: 2 } },
    errors: ['spec: Invalid value: failed rule: self == oldSelf'],
  },
]

describe('rules by type', () => itJudges(rows))
