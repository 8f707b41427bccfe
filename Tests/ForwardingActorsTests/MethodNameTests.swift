// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ForwardingActors

@Suite("Names of distributed methods")
struct MethodNameTests {
  @Test(
    "a mangled name shows to which type its method belongs",
    arguments: [
      ("$s3app7GreeterC5greetyS2SYaKFTE", true),
      ("$s3app7GreeterC5titleSSyYaKFTE", true),
      ("$s3app7GreeterC4none1a1bySi_ACtYaKFTE", true),
      ("$s3app7GreeterC3addE5greetyS2SYaKFTE", true),
      ("$s3app7GreeterC03extB0SiyYaKFTE", true),
      ("$s3app7GreeterC6hidden33_5ECC00EB05E36CB85A2432A19BE16335LLSiyYaKFTE", true),
      ("$s3app7GreeterC5InnerC5greetyS2SYaKFTE", false),
      ("$s3app7GreeterC5SpaceO2InC3fooSiyYaKFTE", false),
      ("$s3app7GreeterC3addE5InnerC5greetyS2SYaKFTE", false),
      ("$s3app7GreeterC4Priv33_5ECC00EB05E36CB85A2432A19BE16335LLC3fooSiyYaKFTE", false),
      ("$s3app7GreeterC5localyyAA1SCYaF5LocalL_C3barSiyYaKFTE", false),
      ("$s3app7GreeterC5localyyF5LocalL0_C3barSiyYaKFTE", false),
      ("$s3app7GreeterC5greetyS2SYaKF", false),
      ("$s3app7GreeterC99greetyS2SYaKFTE", false),
      ("$s3app7GreeterCFTE", false),
      ("$s3app7GreeterC5greetFTE", false),
      ("$s3app7GreeterSC5greetyS2SYaKFTE", false),
    ])
  func whose(_ name: String, _ isOwn: Bool) {
    #expect(MethodName.isMethod(name, of: "3app7GreeterC") == isOwn)
  }

  @Test(
    "a type without a valid mangled name has no methods", arguments: ["", "3app", "3app3BoxCySiG"])
  func nameless(_ type: String) {
    #expect(!MethodName.isMethod("$s3app7GreeterC5greetyS2SYaKFTE", of: type))
    #expect(!MethodName.isMethod("$s3app3BoxCySiG5greetyS2SYaKFTE", of: type))
  }

  @Test("every method of a type is recognized, except generic ones", arguments: MangledNames.own)
  func isOwn(_ rest: String) {
    #expect(MethodName.isMethod("$s1N5VaultC\(rest)FTE", of: "1N5VaultC"))
  }

  @Test(
    "a method of a nested type is not one of the outer type, at any depth",
    arguments: MangledNames.others)
  func isNot(_ rest: String) {
    #expect(!MethodName.isMethod("$s1N5VaultC\(rest)FTE", of: "1N5VaultC"))
  }

  @Test(
    "a name that is cut anywhere, or lacks any letter, is not recognized as a method",
    arguments: MangledNames.others)
  func broken(_ rest: String) {
    for index in rest.indices where rest.hasSuffix("YaK") {
      var other = rest
      other.remove(at: index)
      #expect(!MethodName.isMethod("$s1N5VaultC\(other)FTE", of: "1N5VaultC"), "\(other)")
      let short = rest[..<index]
      #expect(!MethodName.isMethod("$s1N5VaultC\(short)FTE", of: "1N5VaultC"), "\(short)")
    }
  }
}

enum MangledNames {
  // Mangled by the compiler from methods of an actor with various names and parameters.
  static let own: [String] = [
    "3add2to_AEySi_S2itYaK",
    "4nameADySS_tYaK",
    "4same_4SameyAaEV_AfEVtYaK",
    "0022helloworld_hkaCJIDHdlayyYaK",
    "009gre_GkaIiyyYaK",
    "10vaultThingyySiYaK",
    "2M2E4mod2ySiAA2KlCYaK",
    "2meyA2C_AA2KlCtYaK",
    "3arryySayAA2KlCG_AFSgShySiGSayAGSgGtYaK",
    "3extySiAA2KlCYaK",
    "3lab1a_2_CySi_AA2KlCSitYaK",
    "3tup1a_ySi_AA2KlCtYaK",
    "3two_0A1CAA3ParVyAA2KlCGAI_AItYaK",
    "4anyc__1zyAC5InnerC_AC6Inner2VAI4DeepVtYaK",
    "4noneyyYaK",
    "4pextyyYaK",
    "4privyyAA2KlCYaK",
    "4propAA2KlCyYaK",
    "4self1ayAA2KlC_tYaK",
    "5fprivAA2KlCyYaK",
    "5plain_1b4with_1eAA2KlCSi_AiA2EnOSDySSAA3ParV2InVyAI_GSgGAM1KCySi_GtYaK",
    "6async1SiyYaK",
    "7privextyyYaK",
    "8throwingyyYaK",
    "9vaultPropSiyYaK",
  ]

  // Mangled by the compiler from types nested in the actor: in types, functions, closures,
  // initializers, accessors, operators, default arguments, initial values of properties, and
  // extensions.
  static let others: [String] = [
    "ABC4nameAEySS_tYaK",
    "11actorSystemAC11Distributed012LocalTestingd5ActorC0C_tcfc1LL_V5InnerC3fooSiyYaK",
    "2M2E6InExt2C3fooSiyYaK",
    "3defyySiFfA_SiycfU_1LL_V5InnerC3fooSiyYaK",
    "4compSivg1LL_V5InnerC3fooSiyYaK",
    "4eeeeoiyySi_ACtFZ1LL_V5InnerC3fooSiyYaK",
    "5InExtC3fooSiyYaK",
    "5InnerC3fooSiyYaK",
    "5SpaceO2InC3fooSiyYaK",
    "5localyyF1LL_V5InnerC3fooSiyYaK",
    "5localyyF2LAL_C2LBC3fooSiyYaK",
    "5localyyF2LAL_C3fooSiyYaK",
    "5localyyF2LEL_O5InnerC3fooSiyYaK",
    "5localyyFyycfU0_3InCL_C3fooSiyYaK",
    "5localyyFyycfU_2LLL_V2InC3fooSiyYaK",
    "5localyyFyycfU_3LL2L_V2InC3fooSiyYaK",
    "6InPExt33_9DF94F1D58BF42BD8ED1851AD8EDDE7BLLC3fooSiyYaK",
    "6PInner33_9DF94F1D58BF42BD8ED1851AD8EDDE7BLLC3fooSiyYaK",
    "6storedSivpfiSiyXEfU_1LL_V5InnerC3fooSiyYaK",
    "8extlocalyyF1LL_V5InnerC3fooSiyYaK",
    "fd1LL_V5InnerC3fooSiyYaK",
    "yS2icig1LL_V5InnerC3fooSiyYaK",
  ]
}
