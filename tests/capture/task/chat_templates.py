# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Chat templates written for these tests, in the manner of each family's published one, and conversations."""


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def system(text):
    return {"role": "system", "content": text}


CONVERSATIONS = [
    [user("Hello")],
    [system("Be brief."), user("What is the capital of France?")],
    [user("One"), assistant("Two"), user("Three")],
    [system("S"), user("a"), assistant("b"), user("c"), assistant("d"), user("e")],
    [user("  white \n\n space\t ")],
    [user("Ünïcödé 漢字 🙂 \u3000ideographic space\u3000"), assistant("مرحبا"), user("नमस्ते")],
    [user("a"), assistant("<think>\nfirst\n</think>\n\nthen"), user("more")],
    [system(""), user("")],
    [user("{{ braces }} {% if x %} 'single' \"double\" \\n <|im_end|>")],
    [assistant("I begin."), user("You do.")],
    [user("one"), user("two")],
    [system("alone")],
]

CHATML = """{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system
You are a helpful assistant<|im_end|>
' }}{% endif %}{{'<|im_start|>' + message['role'] + '
' + message['content'] + '<|im_end|>' + '
'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant
' }}{% endif %}"""

LLAMA2 = """{% if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% set first = messages[0]['content'] %}
{%- else %}{% set rest = messages %}{% set first = false %}{% endif %}
{%- for message in rest %}
  {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
    {{- raise_exception('Roles must alternate user/assistant/user/assistant/...') }}
  {%- endif %}
  {%- if loop.index0 == 0 and first != false %}
    {%- set content = '<<SYS>>\\n' + first + '\\n<</SYS>>\\n\\n' + message['content'] %}
  {%- else %}
    {%- set content = message['content'] %}
  {%- endif %}
  {%- if message['role'] == 'user' %}
    {{- bos_token + '[INST] ' + content.strip() + ' [/INST]' }}
  {%- elif message['role'] == 'assistant' %}
    {{- ' ' + content.strip() + ' ' + eos_token }}
  {%- endif %}
{%- endfor %}"""

LLAMA3 = """{{- bos_token }}
{%- if not date_string is defined %}
    {%- set date_string = "1 Jan 2025" %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{#- The system message has its own place. #}
{%- if messages and messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if builtin_tools is defined or tools is not none %}
    {{- "Environment: ipython\\n" }}
{%- endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif message.tool_calls|length != 1 %}
        {{- raise_exception("This model takes one tool call at a time") }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

MISTRAL = """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("After the optional system message, roles must alternate") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- else %}
        {{- raise_exception("Only user and assistant roles are supported, with an initial system message!") }}
    {%- endif %}
{%- endfor %}
"""

QWEN3 = """{%- if messages and messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- set ns = namespace(searching=true, last_query=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.searching and message.role == "user" and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.searching = false %}
        {%- set ns.last_query = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set content = message.content %}
        {%- set thought = '' %}
        {%- if message.reasoning_content is defined and message.reasoning_content is not none %}
            {%- set thought = message.reasoning_content %}
        {%- elif '</think>' in message.content %}
            {%- set content = message.content.split('</think>')[-1].lstrip('\\n') %}
            {%- set thought = message.content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query and (loop.last or (not loop.last and thought)) %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""

OLMO = """{{ eos_token }}{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>
' + message['content'] }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>
'  + message['content'] + eos_token }}
{% else %}
{{ '<|' ~ message.role ~ '|>
' ~ message.content }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""

JAIS = """{%- macro turn(name, text, end='\\n') -%}
### {{ name | title }}: {{ text | trim }}{{ end }}
{%- endmacro -%}
{% set names = {'user': 'human', 'assistant': 'AI'} %}
{%- for m in messages if m.role in names -%}
{{ turn(names[m.role], m.content, end='\\n\\n' if not loop.last else '\\n') }}
{%- else -%}
### Nobody:
{%- endfor -%}
### AI:"""

FAMILIES = {"chatml (SmolLM2, Qwen2)": CHATML, "Llama 2": LLAMA2, "Llama 3": LLAMA3, "Mistral": MISTRAL, "Qwen3": QWEN3,
            "OLMo": OLMO, "Jais": JAIS}

# One construct each; both must write the same, or both refuse.
SNIPPETS = [
    # values as text
    "{{ none }}|{{ true }}|{{ 1 }}|{{ 1.5 }}|{{ 2.0 }}|{{ 1e }}|{{ missing }}",
    "{{ [1, 'a', none, true, 2.5, [], {}] }}|{{ {'k': 'v', 'n': [1]} }}|{{ ('x', 1)|list }}",
    "{{ \"it's\" }}|{{ [\"it's\"] }}|{{ ['\"'] }}|{{ ['a\\nb'] }}|{{ 'a' 'b' \"c\" }}",
    "{{ '\\u00e9\\x41\\t|\\\\|\\'' }}",
    "{{ 10000000000000000.0 }}|{{ 0.0001 }}|{{ 0.00001 }}|{{ 123456789.125 }}",
    # numbers
    "{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % -3 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 2 * 3 + 4 }} {{ 2 + 3 * 4 }}",
    "{{ -2 ** 2 }} {{ 1 - 2 - 3 }} {{ 8 / 4 / 2 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ true + 1 }}",
    "{{ 1 / 0 }}", "{{ 1 % 0 }}", "{{ 'a' + 1 }}", "{{ 'a' - 'b' }}", "{{ -'a' }}",
    # strings and lists
    "{{ 'ab' * 3 }}|{{ 2 * 'x' }}|{{ [1] * 2 }}|{{ [1] + [2, 3] }}|{{ 'a' ~ 1 ~ none }}",
    "{{ 'héllo'[1] }}|{{ 'héllo'[-1] }}|{{ 'héllo'[1:3] }}|{{ 'héllo'[::-1] }}|{{ 'héllo'[:-1] }}|{{ 'abc'[5:] }}",
    "{{ [1,2,3,4][1:3] }}|{{ [1,2,3,4][::2] }}|{{ [1,2,3,4][-2:] }}|{{ [1,2,3,4][::-2] }}|{{ [1,2,3][3] }}|",
    "{{ [1,2,3,4][10:0:-1] }}|{{ [1,2,3][-10:2] }}|{{ [1,2,3][2:1] }}|{{ 'abc'[:100] }}",
    "{{ [1,2][::0] }}",
    # logic
    "{{ 1 and 2 }}|{{ 0 or 'x' }}|{{ not 1 }}|{{ not '' }}|{{ 1 < 2 < 3 }}|{{ 1 < 3 < 2 }}|{{ 'a' < 'b' }}|{{ 1 == 1.0 }}",
    "{{ 'a' in 'abc' }}|{{ 2 in [1, 2] }}|{{ 'k' in {'k': 1} }}|{{ 'z' not in 'abc' }}|{{ not 'a' in 'abc' }}",
    "{{ 'yes' if 1 else 'no' }}|{{ 'yes' if 0 else 'no' }}|{{ 'yes' if 0 }}|{{ 'a' if 0 else 'b' if 0 else 'c' }}",
    "{{ 'a' < 1 }}", "{{ 1 in 'abc' }}", "{{ missing.field }}", "{{ missing['x'] }}", "{{ none.field }}|",
    "{{ [1, 2] == [1, 2] }}|{{ {'a': 1} == {'a': 1.0} }}|{{ none == false }}|{{ missing == other }}|{{ true == 1 }}",
    # tests
    "{{ x is defined }}|{{ messages is defined }}|{{ x is undefined }}|{{ none is none }}|{{ 'a' is string }}|{{ 1 is string }}",
    "{{ {} is mapping }}|{{ [] is mapping }}|{{ [] is iterable }}|{{ 'a' is iterable }}|{{ 1 is iterable }}|{{ [] is sequence }}",
    "{{ 1 is number }}|{{ true is number }}|{{ 1 is integer }}|{{ true is integer }}|{{ 1.0 is float }}|{{ true is boolean }}",
    "{{ false is false }}|{{ 0 is false }}|{{ true is true }}|{{ 3 is odd }}|{{ 3 is even }}|{{ 1 is eq 1 }}|{{ 1 is equalto(2) }}",
    "{{ 'a' is in 'abc' }}|{{ 1 is not none }}|{{ x is not defined or 1 }}|{{ range is callable }}|{{ 1 is sequence }}",
    # filters
    "{{ '  a b '|trim }}|{{ 'xxaxx'|trim('x') }}|{{ 'ABC'|lower }}|{{ 'äbc'|upper }}|{{ 'hELLO wORLD'|capitalize }}|{{ 'they\\'re bill'|title }}",
    "{{ [1,2,3]|length }}|{{ 'héé'|length }}|{{ {'a':1}|count }}|{{ 5|string + 'x' }}|{{ '12'|int + 1 }}|{{ 'x'|int }}|{{ 'x'|int(7) }}|{{ 3.9|int }}",
    "{{ '2.5'|float }}|{{ 'x'|float }}|{{ ' 7 '|int }}|{{ '-3'|int }}|{{ '+4'|int }}|{{ true|int }}",
    "{{ ['a','b']|join }}|{{ [1,2]|join(', ') }}|{{ 'abc'|join('-') }}|{{ missing|join }}|{{ {'a':1,'b':2}|join('+') }}",
    "{{ missing|default('d') }}|{{ ''|default('d') }}|{{ ''|default('d', true) }}|{{ ''|d('e', boolean=true) }}|{{ none|default('n') }}",
    "{{ [3,1,2]|first }}|{{ [3,1,2]|last }}|{{ 'abc'|first }}|{{ []|first }}|{{ []|last is defined }}",
    "{{ [3,1,2]|sort }}|{{ ['b','A','c']|sort }}|{{ [3,1,2]|sort(reverse=true) }}|{{ [1,2,3]|reverse|list }}|{{ 'abc'|reverse }}",
    "{{ ['a','A','b','a']|unique|list }}|{% for k, v in {'b':1,'A':2}|dictsort %}{{ k }}{{ v }}{% endfor %}|{% for k, v in {'b':1}|items %}{{ k }}{{ v }}{% endfor %}|{{ -3|abs }}|{{ (-3)|abs }}",
    "{{ 'aXbXc'|replace('X', '-') }}|{{ 'aaa'|replace('a', 'b', 2) }}|{{ 'a<b'|safe }}|{{ 'abc'|replace('', '.') }}",
    "{{ 'a\\nb\\n\\nc'|indent }}|{{ 'a\\nb'|indent(2, true) }}|{{ 'a\\n\\nb'|indent(2, blank=true) }}|{{ 'a\\nb'|indent(width='> ') }}",
    "{{ [1,0,2]|select|list }}|{{ [1,2,3]|select('odd')|list }}|{{ [1,2,3]|reject('odd')|list }}|{{ ['a','b']|reject('equalto','a')|list }}",
    "{{ messages|map(attribute='role')|join(',') }}|{{ ['a','b']|map('upper')|list }}|{{ messages|map(attribute='x', default='-')|list }}",
    "{{ messages|selectattr('role','equalto','user')|list|length }}|{{ messages|rejectattr('role','equalto','user')|list|length }}|{{ messages|selectattr('x')|list }}",
    "{{ none|select|list }}|{{ missing|map('upper')|list }}|{{ messages|selectattr('role','in',['user','tool'])|list|length }}",
    "{{ 'a'|unheardof }}", "{{ 'a' is unheardof }}", "{{ unheardof() }}", "{{ 'a'.unheardof() }}", "{{ 5|length }}",
    # JSON
    "{{ {'a': [1, 2.5, none, true], 'é': 'x\"y\\n\\t'}|tojson }}|{{ []|tojson }}|{{ {}|tojson(indent=2) }}|{{ missing|tojson }}",
    "{{ {'a': [1, {'b': []}], 'c': 'd'}|tojson(indent=2) }}", "{{ 'a/b<c>'|tojson }}|{{ '\\x01\\x7f'|tojson }}|{{ 3|tojson }}",
    # methods
    "{{ ' a '.strip() }}|{{ 'xxax'.strip('x') }}|{{ 'xxa'.lstrip('x') }}|{{ 'axx'.rstrip('x') }}|{{ ' a '.lstrip() }}|{{ ' a '.rstrip() }}|",
    "{{ 'a,b,c'.split(',') }}|{{ 'a,b,c'.split(',', 1) }}|{{ ' a  b '.split() }}|{{ 'a,b,c'.rsplit(',', 1) }}|{{ ''.split() }}|{{ ''.split(',') }}",
    "{{ ' a b  c '.split(none, 1) }}|{{ 'a b c '.split(maxsplit=1) }}",
    "{{ 'abc'.startswith('a') }}|{{ 'abc'.endswith('bc') }}|{{ 'abc'.startswith(('x','a')) }}|{{ 'aXa'.replace('a','b') }}|{{ 'aaa'.replace('a','b',1) }}",
    "{{ 'aBc'.upper() }}|{{ 'aBc'.lower() }}|{{ 'a bc'.title() }}|{{ 'aBC'.capitalize() }}|{{ 'héllo'.find('l') }}|{{ 'abc'.find('z') }}|{{ 'aaa'.count('a') }}",
    "{{ {'a':1}.get('a') }}|{{ {'a':1}.get('b') }}|{{ {'a':1}.get('b', 2) }}|{{ {'a':1}.keys()|list }}|{{ {'a':1}.values()|list }}|{{ {'a':1}.items()|list|length }}",
    "{{ 'a\\nb\\n'.splitlines() }}|{{ ''.splitlines() }}|{{ {'items': 3}.items is callable }}|{{ {'get': 3}['get'] }}",
    "{{ 'a'.split('') }}",
    # loops
    "{% for x in [1,2,3] %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}",
    "{% for x in [1,2,3] %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}|{% for x in 'ab' %}{{ loop.cycle('o','e') }}{% endfor %}",
    "{% for x in [] %}a{% else %}empty{% endfor %}|{% for x in missing %}a{% else %}none{% endfor %}|{% for x in [1,2,3] if x > 1 %}{{ x }}{{ loop.index }}{% endfor %}",
    "{% for k, v in {'a':1,'b':2}.items() %}{{ k }}={{ v }};{% endfor %}|{% for (a, b) in [[1,2],[3,4]] %}{{ a + b }} {% endfor %}",
    "{% for x in [1,2,3,4] %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 4 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in range(3) %}{{ x }}{% endfor %}|{% for x in range(2, 8, 3) %}{{ x }}{% endfor %}|{% for x in range(3, 0, -1) %}{{ x }}{% endfor %}|{{ range(4)|list }}",
    "{% for x in [1,2] %}{% for y in [1,2] %}{{ x }}{{ y }}{{ loop.index }} {% endfor %}{{ loop.index }}{% endfor %}",
    "{% for x in 1, 2 %}{{ x }}{% endfor %}|{% for a, b in [[1,2,3]] %}x{% endfor %}",
    "{% for x in 5 %}x{% endfor %}", "{% for x in none %}x{% endfor %}", "{% for x in range(1000000) %}x{% endfor %}",
    # scopes
    "{% set a = 1 %}{% for x in [1] %}{% set a = 2 %}{{ a }}{% endfor %}{{ a }}",
    "{% set ns = namespace(a=1) %}{% for x in [1,2] %}{% set ns.a = ns.a + x %}{% endfor %}{{ ns.a }}|{{ ns.b }}|{{ ns['a'] }}",
    "{% for x in [1,2] %}{% if loop.first %}{% set y = 5 %}{% endif %}{{ y }}|{% endfor %}",
    "{% if true %}{% set a = 3 %}{% endif %}{{ a }}|{% set a, b = 1, 2 %}{{ a }}{{ b }}|{% set c = 1, 2 %}{{ c|list }}",
    "{% set t %}x{{ 1 + 1 }}y{% endset %}{{ t }}|{% set t | upper %}abc{% endset %}{{ t }}|{% filter upper %}a{{ 'b' }}{% endfilter %}",
    "{% set d = dict(a=1, b=2) %}{{ d.a }}{{ d['b'] }}|{{ dict({'x': 1}, y=2) }}|{% set x.y = 1 %}",
    # macros
    "{% macro m(a, b=2, c='z') %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(1, c=4) }}{{ m(b=1, a=0) }}{{ m() }}",
    "{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(4) }}|{{ f(2)|length }}|{{ f(2) ~ 'x' }}",
    "{% set g = 1 %}{% macro m() %}{{ g }}{% endmacro %}{{ m() }}{% set g = 2 %}{{ m() }}", "{% macro m() %}{% endmacro %}{{ m(1) }}",
    "{% macro m(a) %}{% endmacro %}{{ m(b=1) }}",
    # white space
    "a\n  {% if true %}\n  b\n  {% endif %}\nc\n", "a \n {%- if true -%} \n b \n {%- endif -%} \n c", "a  {{- 1 -}}  b", "a\n  {# c #}\n  b {#- d -#} e",
    "  {%+ if true %}x{% endif %}", "{% if true +%}\nx{% endif %}\n\ny", "\n\n{% set a = 1 %}\n\nx\n\n", "x {% if true %} y {% endif %} z", "{{ 1 }}\n{{ 2 }}\n",
    "\r\na\r\n{% if 1 %}\r\nb\r\n{% endif %}\r\n", "{% if 1 %}\n{% if 1 %}\n{{ 'a' }}\n{% endif %}\n{% endif %}\nb", "{%- for x in [1,2] %}\n\t{{ x }}\n{%- endfor %}",
    "a{#\n#}\n  {% set x = 1 %}\nb\n   \n{% set y = 1 %}c", "{{ '{{' }}{{ '%}' }}{{ {'a':{'b':1}}['a'] }}{{ {'a':{'b':1}} }}",
    # errors of syntax
    "{{ 1", "{% if %}", "{% if 1 %}", "{% endif %}", "{% for x %}{% endfor %}", "{{ }}", "{{ 1 + }}", "{{ (1 }}", "{{ ] }}", "{{ 'a }}", "{# x",
    "{% unheardof %}", "{% else %}", "{{ a.1b }}", "{{ 1 2 }}", "{% set = 1 %}", "{% set a %}x", "{% break %}", "{{ a..b }}", "{% macro %}{% endmacro %}",
]

# Written by us alone: jinja2 has no such tag (transformers adds it), or goes on for ever.
GENERATION = "{% generation %}a{{ 1 }}{% endgeneration %}b"
ENDLESS = [
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "{% set ns = namespace(s='x') %}{% for a in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
    "{{ 'x' * 99999999999 }}", "{{ [1] * 99999999999 }}", "{{ 9 ** 99999 }}",
    "{% set ns = namespace(l=[]) %}{% for a in range(9999) %}{% set ns.l = [ns.l] %}{% endfor %}",
    "{% set ns = namespace(a=1) %}{% set ns.b = [ns] %}{{ ns.b }}",
    "{% set ns = namespace(l=[1]) %}{% for a in range(99) %}{% set ns.l = ns.l + ns.l %}{% endfor %}",
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "{% if 1 %}" * 5000, "{{ 1" + "+1" * 5000 + " }}",
    "{{ " + "[" * 400 + "]" * 400 + " }}",
]
