// SPDX-License-Identifier: Apache-2.0
// Functions that show each rule of AAPCS64 alone: the types of their results and arguments. Macros
// make callees, callers, and descriptions for the core from them.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef long i64;
typedef __int128 i128;
typedef float f32;
typedef double f64;
typedef long double f128;
typedef float _Complex cf;
typedef double _Complex cd;
typedef long double _Complex cq;

typedef struct none {} none;
typedef struct h1f { float v[1]; } h1f;
typedef struct h2f { float a, b; } h2f;
typedef struct h3f { h2f a; float b; } h3f;
typedef struct h4f { float v[4]; } h4f;
typedef struct h1d { double a; } h1d;
typedef struct h2d { double a, b; } h2d;
typedef struct h3d { double v[3]; } h3d;
typedef struct h4d { h2d a, b; } h4d;
typedef struct h1q { long double a; } h1q;
typedef struct h2q { long double a, b; } h2q;
typedef struct h4q { long double v[4]; } h4q;
typedef union uf { float a; float b[2]; } uf;

typedef struct s3 { char v[3]; } s3;
typedef struct s8 { int a, b; } s8;
typedef struct s12 { int a, b, c; } s12;
typedef struct s16 { long a; double b; } s16;
typedef struct a16 { __int128 a; } a16;
typedef struct f5 { float v[5]; } f5;
typedef struct d5 { double v[5]; } d5;
typedef struct s24 { long a, b, c; } s24;
typedef struct a32 { __int128 a; long b, c; } a32;
typedef struct s4k { char v[4001]; } s4k;

// X(name, result, arguments...), with at most 16 arguments. All bytes of a value are compared, so
// no type has padding.
#define CASES(X)                                                                                   \
  X(nothing, none, i64)                                                                            \
  X(narrow, i8, i8, u8, i16, u16, i32, i8, u8, i16)                                                \
  X(eight_words, i64, i64, i64, i64, i64, i64, i64, i64, i64)                                      \
  X(ninth_word, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)                                  \
  X(narrow_on_stack, u16, i64, i64, i64, i64, i64, i64, i64, i64, i8, u16, i32, u8)                \
  X(sixteen_words, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, \
    i64)                                                                                           \
  X(two_floats, f32, f32, f64)                                                                     \
  X(eight_doubles, f64, f64, f64, f64, f64, f64, f64, f64, f64)                                    \
  X(ninth_float, f32, f64, f64, f64, f64, f64, f64, f64, f64, f32, f32, f64)                       \
  X(mixed, s16, i32, f32, i64, f64, s16, f64)                                                      \
  X(floats_of_one, h1f, h1f, h1d, h1q)                                                             \
  X(floats_of_two, h2f, h2f, f32, h2f)                                                             \
  X(floats_of_three, h3f, i64, h3f, h3f)                                                           \
  X(floats_of_four, h4f, h4f, h4f)                                                                 \
  X(doubles_of_two, h2d, h2d, f32, h2d)                                                            \
  X(doubles_of_three, h3d, h3d, h3d)                                                               \
  X(doubles_of_four, h4d, h4d, h4d)                                                                \
  X(union_of_floats, uf, uf, i32, uf)                                                              \
  X(no_vector_after_stack, f64, f64, f64, f64, f64, f64, f64, h3f, f64, f32)                       \
  X(last_vectors, h2f, f64, f64, f64, f64, h4f, f64)                                               \
  X(five_floats, f5, f5, f32)                                                                      \
  X(five_doubles, d5, d5, i64, d5)                                                                 \
  X(quad, f128, f128)                                                                              \
  X(quads, f128, f128, f32, f64, h2d, h2f, f128)                                                   \
  X(quads_of_one, h1q, h1q, h1q)                                                                   \
  X(quads_of_two, h2q, h2q, i64, h2q)                                                              \
  X(quads_of_four, h4q, h4q, h4q)                                                                  \
  X(quads_on_stack, f32, h4q, h4q, f32, f128, i64, h1q)                                            \
  X(quads_aligned, i64, i64, i64, i64, i64, i64, i64, i64, i64, i8, h4q, h3d, h2q, f64, f128)      \
  X(quads_and_stack, h4q, h4f, h2q, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, h3f, f128)   \
  X(complex_float, cf, cf, cf, f32)                                                                \
  X(complex_double, cd, cd, cf)                                                                    \
  X(complex_quad, cq, cq, cd, cq)                                                                  \
  X(small, s3, s3, s3, i8)                                                                         \
  X(one_word, s8, s8, s8)                                                                          \
  X(two_words, s12, s12, s16, s12)                                                                 \
  X(never_split, s12, i64, i64, i64, i64, i64, i64, i64, s12, i64)                                 \
  X(even_pair, i128, i64, i128, i64, i128)                                                         \
  X(even_structure, a16, i32, a16, i64, a16, i64)                                                  \
  X(pair_on_stack, i64, i64, i64, i64, i64, i64, i64, i64, i128, i32)                              \
  X(pair_aligned_on_stack, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, a16, i8, i128)        \
  X(no_word_after_stack, i32, i64, i64, i64, i64, i64, i64, i64, s16, i32, f32)                    \
  X(copied, s24, s24, i64, s24)                                                                    \
  X(copied_aligned, a32, i64, a32, f64, a32)                                                       \
  X(copied_on_stack, i64, i64, i64, i64, i64, i64, i64, i64, s24, s24, i64, d5, f5)                \
  X(copied_aligned_on_stack, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, a32, i64, a32)      \
  X(copied_with_floats, f5, h3f, s24, h2f, i64)                                                    \
  X(copied_large, s4k, s4k, i64, s4k)                                                              \
  X(copied_nine, i64, i64, s24, s24, s24, s24, s24, s24, s24, s24, s24)                            \
  X(copied_twelve, s24, s24, s24, s24, s24, s24, s24, s24, s24, s24, s24, s24, s24)                \
  X(copied_many_aligned, i64, i64, a32, a32, a32, a32, a32, a32, a32, a32, a32, f5, d5, s4k)       \
  X(in_memory_and_eight_words, s24, i64, i64, i64, i64, i64, i64, i64, i64)                        \
  X(in_memory_and_vectors, s24, f64, f64, f64, i64)                                                \
  X(in_memory_and_stack, d5, i64, i64, i64, i64, i64, i64, i64, i64, i64, f64)                     \
  X(in_memory_and_much_stack, d5, h4d, h4d, h4d, h4d, h4d, h4d, i64)                               \
  X(in_memory_and_quad, s24, f128, i64)                                                            \
  X(much_stack, h3f, h4d, h4d, h4d, h4d, h4d, h4d, h4d, f32)                                       \
  X(much_stack_and_words, s16, h4d, h4d, h4d, h4d, h4d, h4d, h4d, i64, f32, s12)                   \
  X(much_odd_stack, f64, h4d, h4d, h3d, h4d, h4d, h4d, h4d, f64)                                   \
  X(much_quads, cq, h4q, h4q, h4q, h4q, i64, f64)                                                  \
  X(empty, i64, none, i64, none, f64)

// X(name, result, fixed argument, variadic arguments...), whose types are not promoted.
#define VARIADIC_CASES(X)                                                                          \
  X(variadic_words, i64, i64, i64, i32, i64)                                                       \
  X(variadic_mixed, f64, i32, f64, i64, f64, i32)                                                  \
  X(variadic_pairs, i128, i64, i128, i32, i128, i64, i128)                                         \
  X(variadic_structures, s16, i64, s16, s3, s12, a16, i64, s16)                                    \
  X(variadic_floats, h2f, f32, h2f, h3d, f64, h4f, f64)                                            \
  X(variadic_copied, s24, i64, s24, i64, d5, a32)                                                  \
  X(variadic_copied_nine, i64, i64, s24, s24, s24, s24, s24, s24, s24, s24, s24)                   \
  X(variadic_copied_twelve, s24, i64, s24, s24, s24, s24, s24, s24, s24, s24, s24, s24, s24, s24)  \
  X(variadic_quads, f128, i64, f128, h2q, f64, h4q, h2q, f128)                                     \
  X(variadic_complex, cd, cf, cd, cf, cq)

// EACH(M, S, types...): M(n, type) for each type, with S() between them; numbers go down to 1.
#define E1(M, S, x) M(1, x)
#define E2(M, S, x, ...) M(2, x) S() E1(M, S, __VA_ARGS__)
#define E3(M, S, x, ...) M(3, x) S() E2(M, S, __VA_ARGS__)
#define E4(M, S, x, ...) M(4, x) S() E3(M, S, __VA_ARGS__)
#define E5(M, S, x, ...) M(5, x) S() E4(M, S, __VA_ARGS__)
#define E6(M, S, x, ...) M(6, x) S() E5(M, S, __VA_ARGS__)
#define E7(M, S, x, ...) M(7, x) S() E6(M, S, __VA_ARGS__)
#define E8(M, S, x, ...) M(8, x) S() E7(M, S, __VA_ARGS__)
#define E9(M, S, x, ...) M(9, x) S() E8(M, S, __VA_ARGS__)
#define E10(M, S, x, ...) M(10, x) S() E9(M, S, __VA_ARGS__)
#define E11(M, S, x, ...) M(11, x) S() E10(M, S, __VA_ARGS__)
#define E12(M, S, x, ...) M(12, x) S() E11(M, S, __VA_ARGS__)
#define E13(M, S, x, ...) M(13, x) S() E12(M, S, __VA_ARGS__)
#define E14(M, S, x, ...) M(14, x) S() E13(M, S, __VA_ARGS__)
#define E15(M, S, x, ...) M(15, x) S() E14(M, S, __VA_ARGS__)
#define E16(M, S, x, ...) M(16, x) S() E15(M, S, __VA_ARGS__)
#define CHOOSE(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, E, ...) E
#define EACH(M, S, ...)                                                                            \
  CHOOSE(__VA_ARGS__, E16, E15, E14, E13, E12, E11, E10, E9, E8, E7, E6, E5, E4, E3, E2, E1, 0)    \
  (M, S, __VA_ARGS__)
#define COMMA() ,
#define NONE()

#define PARAMETER(n, T) T p##n

/// Compares an argument with the next expected one, and overwrites it.
void see(void *value, size_t size);

/// Writes the bytes of the next argument.
void next_argument(void *value, size_t size);

/// Writes the bytes of the expected result, and compares a returned result with them.
void due_result(void *value, size_t size);
void see_result(const void *value, size_t size);

/// A function compiled by another compiler, and code of that compiler that calls any function of
/// that type.
typedef struct Foreign {
  const void *function;
  void (*call)(const void *function);
} Foreign;

/// In the order of `CASES`, and then of `VARIADIC_CASES`.
extern const Foreign foreign[];
