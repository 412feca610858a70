# Compiles SOURCE twice. With ALLOWED defined it must compile; without, the compiler must refuse it
# and say what the file's first line asks for: `// error: REGULAR EXPRESSION`.
file(STRINGS ${SOURCE} line LIMIT_COUNT 1)
string(REGEX REPLACE "^// error: " "" expected "${line}")
set(command ${COMPILER} -std=c++20 -fsyntax-only -I${INCLUDE} ${SOURCE})

execute_process(COMMAND ${command} -DALLOWED RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the allowed twin does not compile:\n${errors}")
endif()
execute_process(COMMAND ${command} RESULT_VARIABLE result ERROR_VARIABLE errors)
if(result EQUAL 0)
  message(FATAL_ERROR "compiles, and must not")
endif()
if(NOT errors MATCHES "${expected}")
  message(FATAL_ERROR "fails without the message \"${expected}\":\n${errors}")
endif()
