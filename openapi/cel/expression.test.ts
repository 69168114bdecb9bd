import assert from 'node:assert/strict'
import { evaluate } from './testing/evaluate.ts'

// What Kubernetes' own CEL (cel-go with Kubernetes' libraries) says of these expressions.

const values: readonly (readonly [expression: string, value: string])[] = [
  ["'%s %s %s %s'.format([1, 1.5, true, 'x'])", '"1 1.5 true x"'],
  ["'%d'.format([1234567])", '"1234567"'],
  ["'%f'.format([1234567.891])", '"1,234,567.891000"'],
  ["'%.2f|%e|%.1e'.format([1234.5,1234.5, 0.00012])", '"1,234.50|1.234500×10⁰³|1.200000×10⁻⁰⁴"'],
  ["'%x %X %o %b'.format([255,'hello',8,5])", '"ff 68656C6C6F 10 101"'],
  ["'%s'.format([[1,2.0,'a', [true]]])", '"[1, 2.000000, \\"a\\", [true]]"'],
  ["'%s'.format([{'b':1,'a':'x'}])", '"{\\"a\\":\\"x\\", \\"b\\":1}"'],
  ["'%s'.format([dyn(null)])", '"null"'],
  ["'%s %s'.format([duration('1h'), timestamp('2020-01-01T00:00:00Z')])", '"3600s 2020-01-01T00:00:00Z"'],
  ["'%s'.format([1e30])", '"1e+30"'],
  ["'%s'.format([b'abc'])", '"abc"'],
  [
    "'%d'.format([dyn('x')])",
    'error: error during formatting: decimal clause can only be used on integers, was given string',
  ],
  ["'%s'.format([type(1)])", '"int"'],
  [
    "'%d'.format([dyn(1.5)])",
    'error: error during formatting: decimal clause can only be used on integers, was given double',
  ],
  ["'%s'.format([dyn(0.1)])", '"0.1"'],
  ["'%s'.format([dyn([1.5])])", '"[1.500000]"'],
  ['string(1e30)', '"1e+30"'],
  ['string(1.0)', '"1"'],
  ["'%s'.format([1.0])", '"1"'],
  ["'%%d'.format([])", '"%d"'],
  ["'%s'.format([dyn(['a', 1.25, {'k': 2}])])", '"[\\"a\\", 1.250000, {\\"k\\":2}]"'],
  ["string(timestamp('2020-01-01T01:00:00+01:00'))", '"2020-01-01T01:00:00+01:00"'],
  ["timestamp('2020-01-01T01:00:00.5+01:00').getHours()", '0'],
  ["timestamp('2020-06-01T01:00:00Z').getHours('America/New_York')", '21'],
  ["timestamp('2020-06-01T01:00:00Z').getHours('+02:30')", '3'],
  ["duration('90m').getHours()", '1'],
  ["duration('1.5s').getMilliseconds()", '1500'],
  ["string(duration('1h1ms'))", '"3600.001s"'],
  ["{'a':1}.b", 'error: no such key: b'],
  ['[1][5]', 'error: index out of bounds: 5'],
  ["{'a':1}['b']", 'error: no such key: b'],
  ['1/0', 'error: division by zero'],
  ['1%0', 'error: modulus by zero'],
  ["dyn('a') + dyn(1)", 'error: no such overload'],
  ['dyn(1).foo', 'error: no such key: foo'],
  ['{1:1,1:2}', '{1: 2}'],
  ['9223372036854775807 + 1', 'error: integer overflow'],
  ['-9223372036854775808 - 1', 'error: integer overflow'],
  ['1u - 2u', 'error: unsigned integer overflow'],
  ["timestamp('9999-12-31T23:59:59Z') + duration('1s')", 'error: timestamp overflow'],
  ["'a'.charAt(5)", 'error: index out of range: 5'],
  ["'abc'.substring(2,1)", 'error: invalid substring range. start: 2, end: 1'],
  ["'a' in ['a','b']", 'true'],
  ['[1,2].exists_one(x, x > 1)', 'true'],
  ['optional.none().value()', 'error: optional.none() dereference'],
  ['[1][?5].orValue(3)', '3'],
  ["{'a':{'b':1}}.?a.?b.orValue(3)", '1'],
  ['[?optional.none(), 2]', '[2]'],
  ["{?'a': optional.of(1)}", '{"a": 1}'],
  ["{'a':1}.transformMap(k, v, v + 1)", '{"a": 2}'],
  ['[1,2].transformList(i, v, i + v)', '[1, 3]'],
  ["{'a':1,'b':2}.transformMapEntry(k, v, {string(v): k})", '{"1": "a", "2": "b"}'],
  ['[3,1,2].sort()', '[1, 2, 3]'],
  ['[3,1,2].sortBy(x, -x)', '[3, 2, 1]'],
  ['[1,1,2].distinct()', '[1, 2]'],
  ['lists.range(3)', '[0, 1, 2]'],
  ['[[1],[2]].flatten()', '[1, 2]'],
  ['[1,2,3].slice(1,5)', 'error: cannot slice(1, 5), list is length 3'],
  ['[1,2].reverse()', '[2, 1]'],
  ['[1,2].first().value()', '1'],
  ['[].max()', 'error: max called on empty list'],
  ['[1,2].min()', '1'],
  ["quantity('1.5Gi').isGreaterThan(quantity('1G'))", 'true'],
  [
    "quantity('abc')",
    "error: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  ["quantity('1k').asInteger()", '1000'],
  ["quantity('1m').asInteger()", 'error: cannot convert value to integer'],
  ["quantity('100m').add(1).asApproximateFloat()", '1.1'],
  ["url('https://a.b:80/c?x=1#f').getHost()", '"a.b:80"'],
  [
    "url('../x')",
    'error: URL parse error during conversion from string: parse "../x": invalid URI for request',
  ],
  ["url('https://a.b/x?a=1&a=2').getQuery()", '{"a": ["1", "2"]}'],
  ["ip('1.2.3.4').family()", '4'],
  [
    "ip('x')",
    'error: IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP',
  ],
  ["cidr('10.0.0.0/8').containsIP('10.1.1.1')", 'true'],
  [
    "cidr('x/1')",
    'error: network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("x/1"): ParseAddr("x"): unable to parse IP',
  ],
  [
    "format.dns1123Label().validate('A').value()",
    "[\"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')\"]",
  ],
  ["semver('1.2.3').isLessThan(semver('1.10.0'))", 'true'],
  ["semver('v1.2', true).major()", '1'],
  ["semver('x')", 'error: No Major.Minor.Patch elements found'],
  ['sets.contains([1,2],[1])', 'true'],
  ["'a b'.find('[a-z]+')", '"a"'],
  ["'a b'.findAll('[a-z]')", '["a", "b"]'],
  ["'a'.matches(dyn('('))", 'program: error parsing regexp: missing closing ): `(`'],
  ["strings.quote('a\"b')", '"\\"a\\\\\\"b\\""'],
  ["string(ip('::1'))", '"::1"'],
  ["string(b'\\xff')", 'program: invalid UTF-8 in bytes, cannot convert to string'],
  ["'x'.split('')", '["x"]'],
  ["'a,b,c'.split(',', 2)", '["a", "b,c"]'],
  ["'abc'.replace('', '-')", '"-a-b-c-"'],
  ["'hello'.indexOf('l', 3)", '3'],
  ["'hello'.lastIndexOf('l')", '3'],
  ["'TacoCat'.lowerAscii()", '"tacocat"'],
  ["['a','b'].join('-')", '"a-b"'],
  ['[1,2,3].sum()', '6'],
  ['[1.5,2.0].sum()', '3.5'],
  ['[3,1].isSorted()', 'false'],
  ['optional.of(3).optMap(x, x + 1).value()', '4'],
  ['optional.ofNonZeroValue(0).hasValue()', 'false'],
  ['1 < 2.5', 'true'],
  ['dyn(1) == dyn(1.0)', 'true'],
  ['type(optional.none())', 'optional_type'],
  ['type({})', 'map'],
  ["type(duration('1s'))", 'google.protobuf.Duration'],
  ['type(null)', 'null_type'],
  ['1 in {1:2}', 'true'],
  ["'k' in {'k':2}", 'true'],
  ['[1,2,3].all(i, v, v > i)', 'true'],
  ['[dyn(null), dyn(1)].exists_one(x, x == null)', 'true'],
  ['true ? 1 : 2', '1'],
  ['1/0 > 1 || true', 'true'],
  ['false && 1/0 > 1', 'false'],
  ['1/0 > 1 && true', 'error: division by zero'],
  ['[1,2].all(x, 1/(x-1) > 0 || x == 1)', 'true'],
  ["size('ünï')", '3'],
  ["'ünï'.substring(1)", '"nï"'],
  ["b'abc'.size()", '3'],
  ["bytes('ü').size()", '2'],
  ["int('0x1')", "program: type conversion error from 'string' to 'int'"],
  ["double('1.5e3')", '1500.0'],
  ['int(1.9)', '1'],
  ['uint(-1)', 'program: unsigned integer overflow'],
  ['int(1e30)', 'program: integer overflow'],
  ["bool('yes')", "program: type conversion error from 'string' to 'bool'"],
  ['!!!true', 'false'],
  ['google.protobuf.Timestamp', 'google.protobuf.Timestamp'],
  ["int('x')", "program: type conversion error from 'string' to 'int'"],
  ["'a'.find('(')", 'program: error parsing regexp: missing closing ): `(`'],
  ['type(1)', 'int'],
  ['type(type(1))', 'type'],
  ['((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))', '1'],
]

describe('expressions', () => {
  for (const [expression, value] of values)
    it(`${expression || 'nothing'} is ${value}`, () => assert.equal(evaluate(expression).text, value))
})

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
    assert.equal(evaluate('['.repeat(100_000)).text, deep)
    assert.equal(evaluate(new Array(251).fill(1).join('+')).text, '251')
    assert.equal(evaluate(new Array(252).fill(1).join('+')).text, long)
    assert.equal(evaluate(new Array(2000).fill('true').join(' && ')).text, 'true')
  })

  it('limits how long they are', () => {
    assert.equal(
      evaluate('1'.repeat(100_001)).text,
      'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000',
    )
  })
})
