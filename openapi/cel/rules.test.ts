import assert from 'node:assert/strict'
import { type FieldError, fieldErrorBody } from '../../framework/errors.ts'
import type { KubeObject } from '../../framework/object.ts'
import { compileSchema } from '../compile.ts'
import type { JSONSchemaProps } from '../jsonschema.ts'

interface Row {
  readonly name: string
  readonly schema: JSONSchemaProps
  readonly spec: unknown
  readonly old?: unknown
  /** What Kubernetes says. */
  readonly errors: readonly string[]
}

const object = (spec: unknown): KubeObject =>
  ({ apiVersion: 'e.com/v1', kind: 'W', metadata: { name: 'w' }, spec }) as KubeObject

const text = (error: FieldError): string =>
  `${error.field === '' ? '<nil>' : error.field}: ${fieldErrorBody(error)}`

const validate = (schema: JSONSchemaProps, spec: unknown, old?: unknown): readonly string[] =>
  compileSchema(schema)
    .validate(object(spec), old === undefined ? undefined : object(old))
    .map(text)

const texts = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => String(i))

const rows: readonly Row[] = [
  {
    name: 'transition',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [{ rule: 'self.size >= oldSelf.size', message: 'size may not shrink' }],
        },
      },
    },
    spec: { size: 3 },
    old: { size: 5 },
    errors: ['spec: Invalid value: size may not shrink'],
  },
  {
    name: 'a transition rule on create',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [{ rule: 'self.size >= oldSelf.size', message: 'size may not shrink' }],
        },
      },
    },
    spec: { size: 3 },
    errors: [],
  },
  {
    name: 'default message',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [{ rule: 'self.size > 1' }],
        },
      },
    },
    spec: { size: 0 },
    errors: ['spec: Invalid value: failed rule: self.size > 1'],
  },
  {
    name: 'reason and field',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            { rule: 'self.size > 1', reason: 'FieldValueForbidden', fieldPath: '.size' },
          ],
        },
      },
    },
    spec: { size: 0 },
    errors: ['spec.size: Forbidden: failed rule: self.size > 1'],
  },
  {
    name: 'required with message',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            { rule: 'self.size > 1', reason: 'FieldValueRequired', fieldPath: '.size', message: ' needed ' },
          ],
        },
      },
    },
    spec: { size: 0 },
    errors: ['spec.size: Required value: needed'],
  },
  {
    name: 'duplicate',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [{ rule: 'self.size > 1', reason: 'FieldValueDuplicate' }],
        },
      },
    },
    spec: { size: 0 },
    errors: ['spec: Duplicate value'],
  },
  {
    name: 'message expression',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            { rule: 'self.size > 1', messageExpression: "'size is ' + string(self.size)" },
          ],
        },
      },
    },
    spec: { size: 0 },
    errors: ['spec: Invalid value: size is 0'],
  },
  {
    name: 'a message expression that fails',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            { rule: 'self.size > 1', message: 'm', messageExpression: 'self.name' },
          ],
        },
      },
    },
    spec: { size: 0 },
    errors: ['spec: Invalid value: m'],
  },
  {
    name: 'an empty message',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [{ rule: 'self.size > 1', message: 'm', messageExpression: "''" }],
        },
      },
    },
    spec: { size: 0 },
    errors: ['spec: Invalid value: m'],
  },
  {
    name: 'missing keys',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            { rule: "self.name == 'x'", message: 'm' },
            { rule: "self.name == 'x'" },
          ],
        },
      },
    },
    spec: { size: 0 },
    errors: [
      'spec: Invalid value: "object": no such key: name evaluating rule: m',
      'spec: Invalid value: "object": no such key: name evaluating rule: self.name == \'x\'',
    ],
  },
  {
    name: 'division by zero',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [{ rule: '1/self.size > 0' }],
        },
      },
    },
    spec: { size: 0 },
    errors: ['spec: Invalid value: "object": division by zero evaluating rule: 1/self.size > 0'],
  },
  {
    name: 'int or string',
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { o: { 'x-kubernetes-int-or-string': true } },
          'x-kubernetes-validations': [
            { rule: "self.o.startsWith('a')" },
            { rule: 'self.o + 1 > 0' },
            { rule: "self.o > 'b'" },
          ],
        },
      },
    },
    spec: { o: 5 },
    errors: [
      "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.o.startsWith('a')",
      "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.o > 'b'",
    ],
  },
  {
    name: 'values of scalars, lists and maps',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              additionalProperties: {
                type: 'string',
                'x-kubernetes-validations': [{ rule: "self != 'bad'" }],
              },
            },
          },
        },
      },
    },
    spec: { n: 1, t: 'b', l: ['x'], m: { 'a.b': 'bad', c: 'ok' } },
    errors: [
      'spec.n: Invalid value: 1: too small',
      'spec.t: Invalid value: "b": failed rule: self == \'a\'',
      'spec.l: Invalid value: failed rule: self.size() > 3',
      'spec.m[a.b]: Invalid value: "bad": failed rule: self != \'bad\'',
    ],
  },
  {
    name: 'list of type map',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
        },
      },
    },
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
    name: 'optional old self that is not there',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [{ rule: '!has(oldSelf) || true', optionalOldSelf: true }],
        },
      },
    },
    spec: { size: 1 },
    errors: [
      'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:6: invalid argument to has() macro\n | !has(oldSelf) || true\n | .....^',
    ],
  },
  {
    name: 'optional old self',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            { rule: '!oldSelf.hasValue() || oldSelf.value().size <= self.size', optionalOldSelf: true },
          ],
        },
      },
    },
    spec: { size: 1 },
    old: { size: 2 },
    errors: ['spec: Invalid value: failed rule: !oldSelf.hasValue() || oldSelf.value().size <= self.size'],
  },
  {
    name: 'optional old self on create',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            { rule: 'oldSelf.hasValue()', optionalOldSelf: true, message: 'no create' },
          ],
        },
      },
    },
    spec: { size: 1 },
    errors: ['spec: Invalid value: no create'],
  },
  {
    name: 'select on optional old self',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            { rule: 'oldSelf.?size.orValue(0) < self.size', optionalOldSelf: true },
          ],
        },
      },
    },
    spec: { size: 1 },
    old: { size: 7 },
    errors: ['spec: Invalid value: failed rule: oldSelf.?size.orValue(0) < self.size'],
  },
  {
    name: 'ratcheting where something changed',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [{ rule: 'self.size > 1' }],
        },
      },
    },
    spec: { size: 0, name: 'b' },
    old: { size: 0, name: 'a' },
    errors: ['spec: Invalid value: failed rule: self.size > 1'],
  },
  {
    name: 'ratcheting where nothing changed',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [{ rule: 'self.size > 1' }],
        },
      },
    },
    spec: { size: 0 },
    old: { size: 0 },
    errors: [],
  },
  {
    name: 'sets and maps',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            { rule: "self.tags == ['b','a']" },
            { rule: "self.tags + ['a','c'] == ['c','b','a']" },
            { rule: 'self.ports == oldSelf.ports' },
            { rule: '(self.ports + oldSelf.ports).size() == 2' },
          ],
        },
      },
    },
    spec: {
      tags: ['a', 'b'],
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2 },
      ],
    },
    old: {
      tags: ['b', 'a'],
      ports: [
        { name: 'b', port: 2 },
        { name: 'a', port: 1 },
      ],
    },
    errors: [],
  },
  {
    name: 'metadata of the whole',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
      'x-kubernetes-validations': [
        { rule: "self.metadata.name == 'x'", message: 'name' },
        { rule: "self.kind == 'W'" },
      ],
    },
    spec: { size: 0 },
    errors: ['<nil>: Invalid value: name'],
  },
  {
    name: 'call limit',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            { rule: "self.tags.all(x, self.tags.all(y, self.tags.all(z, x + y + z != 'q')))" },
          ],
        },
      },
    },
    spec: { tags: texts(100) },
    errors: [
      "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.tags.all(x, self.tags.all(y, self.tags.all(z, x + y + z != 'q')))",
    ],
  },
  {
    name: 'budget',
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'array',
          items: {
            type: 'object',
            properties: { t: { type: 'array', items: { type: 'string' } } },
            'x-kubernetes-validations': [{ rule: 'self.t.all(x, self.t.all(y, x != y || x == y))' }],
          },
        },
      },
    },
    spec: new Array(25).fill({ t: texts(300) }),
    errors: [
      'spec[18]: Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run',
    ],
  },
  {
    name: 'formats and names',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
        },
      },
    },
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
    schema: {
      type: 'object',
      properties: {
        spec: {
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
        },
      },
    },
    spec: { n: null, l: [null, 'a'] },
    errors: [
      'spec: Invalid value: failed rule: has(self.n)',
      "spec: Invalid value: \"object\": rule compile error: compilation failed: ERROR: <input>:1:17: found no matching overload for '_==_' applied to '(string, null)'\n | self.l.all(x, x == null || x.size() > 1)\n | ................^",
      "spec: Invalid value: \"object\": rule compile error: compilation failed: ERROR: <input>:1:11: found no matching overload for '_!=_' applied to '(string, null)'\n | self.l[0] != null\n | ..........^",
      'spec: Invalid value: failed rule: self.l.all(x, x.size() > 1)',
    ],
  },
  {
    name: 'embedded resources',
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            e: {
              type: 'object',
              'x-kubernetes-embedded-resource': true,
              'x-kubernetes-preserve-unknown-fields': true,
              'x-kubernetes-validations': [
                { rule: "self.kind == 'X'" },
                { rule: "self.metadata.name == 'y'" },
              ],
            },
          },
        },
      },
    },
    spec: { e: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'n' }, zz: 1 } },
    errors: [
      "spec.e: Invalid value: failed rule: self.kind == 'X'",
      "spec.e: Invalid value: failed rule: self.metadata.name == 'y'",
    ],
  },
  {
    name: 'what is not seen',
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { a: { type: 'integer' } },
          'x-kubernetes-validations': [{ rule: 'self == oldSelf' }],
        },
      },
    },
    spec: { a: 1, u: { x: 1 } },
    old: { a: 1, u: { x: 2 } },
    errors: ['spec: Invalid value: failed rule: self == oldSelf'],
  },
  {
    name: 'maps',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            { rule: "self.m.size() == 2 && self.m.all(k, self.m[k] != '')" },
            { rule: "'a' in self.m" },
            { rule: "self.m == {'a':'1'}" },
            { rule: "self.m.exists(k, v, v == '9')" },
          ],
        },
      },
    },
    spec: { m: { a: '1', b: '2' } },
    errors: [
      "spec: Invalid value: failed rule: self.m == {'a':'1'}",
      "spec: Invalid value: failed rule: self.m.exists(k, v, v == '9')",
    ],
  },
  {
    name: 'patterns',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            { rule: "self.name.matches('^[a-z]+$')", message: 'bad name' },
            { rule: 'self.name.matches(self.name)' },
          ],
        },
      },
    },
    spec: { name: 'A(' },
    errors: [
      'spec: Invalid value: bad name',
      'spec: Invalid value: "object": error parsing regexp: missing closing ): `A(` evaluating rule: self.name.matches(self.name)',
    ],
  },
  {
    name: 'expensive message',
    schema: {
      type: 'object',
      properties: {
        spec: {
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
              },
            },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-validations': [
            {
              rule: 'self.size > 1',
              messageExpression:
                "[1,2,3,4,5,6,7,8,9,10].map(x, [1,2,3,4,5,6,7,8,9,10].map(y, [1,2,3,4,5,6,7,8,9,10].map(z, [1,2,3,4,5,6,7,8,9,10].map(w,[1,2,3,4,5,6,7,8,9,10].map(w, 'a'))))).size() > 1 ? 'a' : 'b'",
            },
          ],
        },
      },
    },
    spec: { size: 0 },
    errors: ['spec: Invalid value: a'],
  },
]

describe('rules', () => {
  for (const { name, schema, spec, old, errors } of rows)
    it(`${name}: ${errors[0] ?? 'fine'}`, () => assert.deepEqual(validate(schema, spec, old), errors))

  const size: JSONSchemaProps = {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        properties: { size: { type: 'integer' }, name: { type: 'string', maxLength: 2 } },
        'x-kubernetes-validations': [{ rule: 'self.size > 1' }],
      },
    },
  }

  it('wait for an object of the right shape', () => {
    const notChecked =
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
    assert.deepEqual(validate(size, { size: 0, name: 'long' }), [
      'spec.name: Too long: may not be more than 2 bytes',
      notChecked,
    ])
  })

  it('forgive what has not changed', () => {
    assert.deepEqual(validate(size, { size: 0 }, { size: 0 }), [])
    assert.deepEqual(validate(size, { size: 0, name: 'b' }, { size: 0 }), [
      'spec: Invalid value: failed rule: self.size > 1',
    ])
  })

  it('say so when they do not compile: they were accepted by another server', () => {
    const schema: JSONSchemaProps = { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.x' }] }
    assert.deepEqual(validate(schema, {}), [
      `<nil>: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:5: undefined field 'x'\n | self.x\n | ....^`,
    ])
  })
})
