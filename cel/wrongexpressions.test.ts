import assert from 'node:assert/strict'
import { evaluate } from './testing/evaluate.ts'

const wrong: readonly (readonly [expression: string, issues: string])[] = [
  [
    "'%d'.format(['x'])",
    "ERROR: <input>:1:14: error during formatting: decimal clause can only be used on integers, was given string\n | '%d'.format(['x'])\n | .............^",
  ],
  [
    "'%d %d'.format([1])",
    "ERROR: <input>:1:15: index 1 out of range\n | '%d %d'.format([1])\n | ..............^",
  ],
  [
    "'%z'.format([1])",
    'ERROR: <input>:1:12: could not parse formatting clause: unrecognized formatting clause "z"\n | \'%z\'.format([1])\n | ...........^',
  ],
  [
    "'%d'.format([1,2])",
    "ERROR: <input>:1:12: too many arguments supplied to string.format (expected 1, got 2)\n | '%d'.format([1,2])\n | ...........^",
  ],
  ["'%'.format([1])", "ERROR: <input>:1:11: unexpected end of string\n | '%'.format([1])\n | ..........^"],
  [
    "'%f'.format([1])",
    "ERROR: <input>:1:14: error during formatting: fixed-point clause can only be used on doubles, was given int\n | '%f'.format([1])\n | .............^",
  ],
  [
    "'abc'.reverse()",
    "ERROR: <input>:1:14: found no matching overload for 'reverse' applied to 'string.()'\n | 'abc'.reverse()\n | .............^",
  ],
  [
    "string(quantity('1'))",
    "ERROR: <input>:1:7: found no matching overload for 'string' applied to '(kubernetes.Quantity)'\n | string(quantity('1'))\n | ......^",
  ],
  [
    "{'a':1} == {'a':1.0}",
    "ERROR: <input>:1:9: found no matching overload for '_==_' applied to '(map(string, int), map(string, double))'\n | {'a':1} == {'a':1.0}\n | ........^",
  ],
  [
    '1 ++ 2',
    "ERROR: <input>:1:4: Syntax error: extraneous input '+' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 ++ 2\n | ...^",
  ],
  [
    'a.true',
    "ERROR: <input>:1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER\n | a.true\n | ..^",
  ],
  [
    'self.x.',
    "ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'\n | self.x.\n | .......^",
  ],
  ['(1 + 2', "ERROR: <input>:1:7: Syntax error: missing ')' at '<EOF>'\n | (1 + 2\n | ......^"],
  [
    '[1, 2',
    "ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting {']', ','}\n | [1, 2\n | .....^",
  ],
  ['a ? b', "ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting ':'\n | a ? b\n | .....^"],
  [
    '* 2',
    "ERROR: <input>:1:1: Syntax error: extraneous input '*' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | * 2\n | ^",
  ],
  ['if == 3', 'ERROR: <input>:1:1: reserved identifier: if\n | if == 3\n | ^'],
  [
    '1 + )',
    "ERROR: <input>:1:5: Syntax error: mismatched input ')' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 + )\n | ....^",
  ],
  [
    'foo bar baz',
    "ERROR: <input>:1:5: Syntax error: mismatched input 'bar' expecting <EOF>\n | foo bar baz\n | ....^",
  ],
  [
    'a.b.c(1,)',
    "ERROR: <input>:1:9: Syntax error: mismatched input ')' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | a.b.c(1,)\n | ........^",
  ],
  ['@foo', "ERROR: <input>:1:1: Syntax error: token recognition error at: '@'\n | @foo\n | ^"],
  [
    "'a\\q'",
    "ERROR: <input>:1:1: Syntax error: token recognition error at: ''a\\q'\n | 'a\\q'\n | ^\nERROR: <input>:1:5: Syntax error: token recognition error at: '''\n | 'a\\q'\n | ....^\nERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 'a\\q'\n | .....^",
  ],
  ['9223372036854775808', 'ERROR: <input>:1:1: invalid int literal\n | 9223372036854775808\n | ^'],
  ['x.map(1, 2)', 'ERROR: <input>:1:7: argument is not an identifier\n | x.map(1, 2)\n | ......^'],
  ['has(x)', 'ERROR: <input>:1:5: invalid argument to has() macro\n | has(x)\n | ....^'],
  [
    '1 = 2',
    "ERROR: <input>:1:3: Syntax error: token recognition error at: '= '\n | 1 = 2\n | ..^\nERROR: <input>:1:5: Syntax error: extraneous input '2' expecting <EOF>\n | 1 = 2\n | ....^",
  ],
  [
    'a = b',
    "ERROR: <input>:1:3: Syntax error: token recognition error at: '= '\n | a = b\n | ..^\nERROR: <input>:1:5: Syntax error: extraneous input 'b' expecting <EOF>\n | a = b\n | ....^",
  ],
  [
    "a == \n   b.c + 'ü' + d",
    "ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a == \n | ^\nERROR: <input>:2:4: undeclared reference to 'b' (in container '')\n |    b.c + 'ü' + d\n | ...^\nERROR: <input>:2:16: undeclared reference to 'd' (in container '')\n |    b.c + 'ü' + d\n | ..........．....^",
  ],
  [
    'a.all(x, x ==)',
    "ERROR: <input>:1:14: Syntax error: mismatched input ')' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | a.all(x, x ==)\n | .............^",
  ],
  [
    "{'a': 1, 'b'}",
    "ERROR: <input>:1:13: Syntax error: mismatched input '}' expecting ':'\n | {'a': 1, 'b'}\n | ............^",
  ],
  [
    'self.foo &&& true',
    "ERROR: <input>:1:12: Syntax error: token recognition error at: '& '\n | self.foo &&& true\n | ...........^",
  ],
  ['true || 1', "ERROR: <input>:1:9: expected type 'bool' but found 'int'\n | true || 1\n | ........^"],
  [
    'size(1)',
    "ERROR: <input>:1:5: found no matching overload for 'size' applied to '(int)'\n | size(1)\n | ....^",
  ],
  ["[1,'a']", "ERROR: <input>:1:4: expected type 'int' but found 'string'\n | [1,'a']\n | ...^"],
  [
    "{'a':1,'b':'c'}",
    "ERROR: <input>:1:12: expected type 'int' but found 'string'\n | {'a':1,'b':'c'}\n | ...........^",
  ],
  [
    '1.all(x, true)',
    "ERROR: <input>:1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)\n | 1.all(x, true)\n | ^",
  ],
  ["'a'.b", "ERROR: <input>:1:4: type 'string' does not support field selection\n | 'a'.b\n | ...^"],
  [
    'foo.bar()',
    "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo.bar()\n | ^\nERROR: <input>:1:8: undeclared reference to 'bar' (in container '')\n | foo.bar()\n | .......^",
  ],
  ['foo()', "ERROR: <input>:1:4: undeclared reference to 'foo' (in container '')\n | foo()\n | ...^"],
  ['Foo{a: 1}', "ERROR: <input>:1:4: undeclared reference to 'Foo' (in container '')\n | Foo{a: 1}\n | ...^"],
  [
    'self.namespace',
    "ERROR: <input>:1:1: undeclared reference to 'self' (in container '')\n | self.namespace\n | ^",
  ],
]

describe('wrong expressions', () => {
  for (const [expression, issues] of wrong)
    it(`${expression}`, () => assert.equal(evaluate(expression).text, issues))

  const deep = 'ERROR: <input>:-1:0: expression recursion limit exceeded: 250'
  const long = 'ERROR: <input>:-1:0: max recursion depth exceeded'

  it('limits how deep they are', () => {
    assert.equal(evaluate('('.repeat(249) + 1 + ')'.repeat(249)).text, '1')
    assert.equal(evaluate('('.repeat(250) + 1 + ')'.repeat(250)).text, deep)
    assert.equal(evaluate('['.repeat(16_384)).text, deep)
    assert.equal(evaluate(new Array(251).fill(1).join('+')).text, '251')
    assert.equal(evaluate(new Array(252).fill(1).join('+')).text, long)
    assert.equal(evaluate(new Array(2000).fill('true').join(' && ')).text, 'true')
  })

  it('limits their macros', () => {
    const macros = (count: number): string => new Array(count).fill('[1].exists(x, x == 1)').join(' && ')
    assert.equal(evaluate(macros(256)).text, 'true')
    assert.equal(evaluate(macros(257)).text, 'ERROR: <input>:-1:0: expression has more than 256 macros')
  })

  it('limits how long they are, and accepts thousands of terms', () => {
    const longest = new Array(1_000).fill("'a' != 'b'").join(' && ')
    assert.ok(longest.length > 10_000)
    assert.equal(evaluate(longest).text, 'true')
    assert.equal(
      evaluate('1'.repeat(16_385)).text,
      'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 16385, limit 16384',
    )
  })
})
