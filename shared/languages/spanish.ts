import { listed, spaced } from '../base/listed.ts';
import type { Language } from './language.ts';

const orders =
  'reserve|reserva|envíe|envía|mande|manda|pague|paga|transfiera|transfiere|haga|haz|ponga|pon|añada|añade|compre|compra|pida|pide|active|activa|bloquee|bloquea|borre|borra|llame|llama|siga|sigue|continúe|continúa|use|usa|tome|toma|abra|abre|cierre|cierra|confirme|confirma|conecte|conecta|páseme|pásame';

export const spanish: Language = {
  code: 'es',
  name: 'Spanish',
  lines: {
    fillers: [
      'Un momento, por favor.',
      'Déjeme comprobarlo.',
      'Un segundo más.',
      'Enseguida estoy con usted.',
    ],
    apology: 'Disculpe, algo ha fallado. ¿Puede repetirlo, por favor?',
    misheard: 'Disculpe, no le he entendido. ¿Puede repetirlo, por favor?',
    farewell: 'Adiós.',
    hold: 'Sigo teniendo problemas. No cuelgue, por favor.',
    back: 'Gracias por esperar.',
    unheardNote: '[La persona que llama no ha oído su respuesta. Désela ahora.]',
    announcement: '',
    idleQuestion: '¿Sigue ahí?',
    confirmQuestion: '¿Quiere que lo haga?',
    keysNote: '[La persona que llama ha pulsado las teclas: {digits}]',
    returnLine: 'Lo siento, nadie ha podido atender su llamada. ¿En qué más puedo ayudarle?',
    operatorLost:
      'Disculpe, se ha perdido la conexión con mi compañero. Vuelvo a estar con usted. ¿En qué puedo ayudarle?',
  },
  backchannels: listed(
    'sí|ya|ok|okey|okay|vale|claro|claro que sí|ya veo|entiendo|entendido|comprendo|de acuerdo|bien|muy bien|bueno',
    'perfecto|exacto|así es|correcto|dale|listo|genial|por supuesto|desde luego|está bien|eso es',
    'no hay problema|no pasa nada|qué bien|cómo no',
  ),
  nods: {
    core: spaced(
      'wow guau verdad interesante bien buen genial perfecto estupendo fantástico fenomenal excelente increíble magnífico maravilloso maravilla',
      'súper super chévere guay bacán bonito lindo precioso útil práctico amable cierto correcto exacto exactamente claro clarísimo lógico normal',
      'obvio obviamente naturalmente ciertamente efectivamente totalmente absolutamente completamente perfectamente seguro entiendo entendido',
      'comprendo comprendido sé vale ok okay okey sí ya alegro alegría contento feliz alivio razón sentido suena parece acuerdo veo imagino serio',
      'vaya dios caramba anda gracioso curioso impresionante sorprendente tranquilo suerte listo fabuloso espectacular ideal encantado tranquiliza',
      'encanta fascinante notable encantador ostras hala buenísimo chulo apuntado anotado recibido uf bravo pena lástima casualidad detalle locura',
      'pasada gozada ganga simpático majo maja cariñoso generoso triste emocionante conmovedor divertido raro rara extraño pensaba suponía esperaba',
      'creía imaginaba probablemente seguramente sinceramente justo considerado atento emocionado impresionado sorprendido conmovido agradecido',
      'satisfecho convencido emoción tranquilidad ilusión sorpresa agradable placer olvidado oído notado esperado pensado creído supuesto',
      'inteligente astuto elegante hermoso delicioso tierno alentador prometedor refrescante absurdo insólito alucinante bellísimo funciona',
      'muchísimo sólido acertado hábil hurra yupi ay aúpa olé órale híjole bah puaj caray jolín jolines jo joder leche córcholis recórcholis zas',
      'tremendo brutal bestial tristísimo rarísimo flipante asombroso pasmoso alucino mola guapo bárbaro soberbio sublime divino grandioso',
      'sensacional felicidades enhorabuena',
    ),
    inflection: /[oae]?s?$/u,
    light: spaced(
      'gracias ah oh ay eh uy eso esto es está lo la el un una de me te le muy tan así pues entonces también tiene tienes toda mi por en a',
      'saberlo saber oírlo escucharlo oír ahora mucho bastante realmente gusto idea noticia sirve mira tú estoy estaba estamos he ha más tanto quedo',
      'queda fue era',
      'mejor',
      'usted ustedes él ella nosotros sería habría había sido dijeron dijo se nos les que los las unos del con para al han haya menos demasiado',
      'sumamente verdaderamente todo todas todos algo nada peso encima quita mí',
      'cosa cosas gesto plan elección oferta historia servicio solución',
    ),
    exclaiming: spaced('qué que cuánto'),
    inverting: [],
    wondering: listed(
      'de verdad|ah de verdad|en serio|ah en serio|ah sí|ah sí de verdad|verdad|no me diga|no me digas|ah sí claro|seguro|cierto|es verdad|es cierto',
    ),
    phrases: listed(
      'estoy de acuerdo|totalmente de acuerdo|así que es eso|así que era eso|así que es así|lo que yo decía|eso es lo que pensaba',
      'no me lo puedo creer|no lo sabía|no sabía|no tenía ni idea|eso pensaba|eso pensaba yo|lo que pensaba|me lo imaginaba|lo imaginaba',
      'ya me lo imaginaba|ya me imagino|entiendo lo que dice|entiendo lo que quiere decir|entiendo a qué se refiere|menos mal|gracias a dios',
      'por suerte|con razón|nada mal|no está mal|no está nada mal|ningún problema|sin problema|no hay ningún problema|en efecto|por supuesto que sí',
      'mira tú|qué padre|dios mío|madre mía|me imagino|me lo puedo imaginar|eso lo explica|eso lo explica todo|no me extraña|le escucho|le sigo',
      'sigo aquí|aquí estoy|me gusta|me encanta|qué sorpresa|qué suerte|qué buena noticia|ya decía yo|faltaría más|queda claro|me queda claro',
      'tomo nota|es lo que pensaba|ya lo decía yo|no hace falta que lo diga|tanto mejor|mejor así|mucho mejor',
      'ah mira|mira|mira qué bien|mire usted|eso ayuda|eso me ayuda|me ayuda|me ayuda mucho|fíjate|fíjese|ya me parecía|ya me parecía a mí|lo sospechaba',
      'ya lo sospechaba|qué ilusión|qué alegría|qué lástima|qué pena|qué curioso|qué raro|qué fuerte|qué casualidad|qué detalle|qué gracia|qué cosas|anda',
      'anda mira|vaya tela|por eso|ah por eso|era por eso|ahora lo entiendo|ahora entiendo|ahora caigo|ya caigo|bien hecho|quién lo diría',
      'lo que son las cosas|ya me acuerdo|ah ya me acuerdo|me alegra saberlo|me quedo más tranquilo|me quedo más tranquila|me viene bien|qué bueno saberlo',
      'como pensaba|como imaginaba|como esperaba|era de esperar|lo que me imaginaba|ya lo sabía|eso creía|eso creo|eso espero|quién lo diría|no está nada mal',
      'por mí bien|por mi parte bien|eso me dijeron|eso había oído|me quita un peso de encima|un peso menos|justo lo que esperaba',
      'todo bien|todo claro',
      'hay que ver|lo que hay que ver|lo que hay que oír|dímelo a mí|dígamelo a mí|a mí me lo va a decir|a mí me lo vas a decir',
      'a mí me lo vas a contar|primera noticia|no me lo esperaba|no lo esperaba|quién lo iba a decir|quién iba a decirlo|no lo puedo creer',
      'no puede ser|no doy crédito|me dejas de piedra|me deja de piedra|me deja de una pieza|así es la vida|es lo que hay|qué le vamos a hacer',
      'qué se le va a hacer|nunca se sabe|ya era hora|ni que lo diga|ni que lo digas|y que lo diga|y que lo digas|sé lo que es eso|te entiendo',
      'le entiendo|le comprendo|te comprendo|lo entiendo perfectamente|ahí está|ahí lo tiene|ya veo|ya lo veo|pobrecito|pobrecita|pobrecillo',
      'pobre hombre|pobre mujer|vaya por dios|virgen santa|válgame dios|santo cielo|me cuadra|ahora me cuadra|ya me extrañaba|ya me extrañaba a mí',
      'en absoluto me extraña',
      'qué horrible|qué terrible|qué mal',
      'ay señor|ay dios|ay dios mío|ay madre|ay madre mía|ay por dios|ay virgen santa|virgen santa',
    ),
    shapes: listed(
      'qué *|qué bien *|qué * más *|qué buena *|qué buen *|qué mala *|qué gran *|vaya *|vaya * *|menudo *|menuda *|eso es muy *|es muy *',
      'es realmente *|es bastante *|es de lo más *|*ísimo|*ísima|es *ísimo|es *ísima|suena *|suena muy *|parece *ante|es *ante|es *ible|es una *ada',
      'menuda * *|eso sí que *|eso sí que es *|pues sí que *|está muy *|está * bien|tremendo *|tremenda *|pobre *|linda *|lindo *|bonita *|bonito *',
      'guau …|wow …|caramba …|ostras …|hala …|vaya vaya …|dios mío …|madre mía …|híjole …|caray …|uf …',
    ),
    telling: spaced(
      'hora horas día días número tipo color precio talla fecha nombre dirección modelo es son era eran hago haces hace hay quiere quieres quiero',
      'dice dijo dices pasa pasó tal significa clase marca habitación incluye necesito necesita tengo tiene debo puedo puede opciones documentos',
      'horario horarios plan tarifa calle ciudad piso lugar banco mes año más menos cuenta va van ve cuesta falta viene código autobús tren vuelo',
      'otra otro otras otros opinas no nunca mal malo mala error lejos caro cara tarde pronto temprano poco pequeño grande largo corto urgente',
      'importante posible imposible disponible reembolsable suficiente diferente siguiente pendiente gratis roto cerrado con sin para por en a al de',
      'del la el los las un una unos me te se lo su mi usted yo él ella mañana ayer hoy ahora después antes lunes martes miércoles jueves viernes',
      'sábado domingo pero y o si que favor despacio rápido maría horrible terrible malísimo vergonzoso',
      'formulario seguro compañía empresa contrato suscripción enlace contraseña oficina sucursal producto plazo importe pedido médico medicina',
      'versión pago envío tarjeta factura',
    ),
  },
  goodbyes: listed(
    'adiós|chao|chau|gracias|muchas gracias|mil gracias|hasta luego|hasta pronto|hasta mañana|igualmente|bye|ciao',
    'que tenga buen día|que tenga un buen día|buen día|buenas noches|nos vemos|gracias a usted|a usted|gracias igualmente',
  ),
  urgent: spaced(
    'no para pare alto espera espere stop qué quién cuándo dónde cómo cuál cuánto perdón perdone sorry',
  ),
  hesitations: spaced(
    'eh ehm em mmm pues y e o u pero porque que el la los las un una unos unas lo de del a al en con por para sin',
    'sobre entre hasta desde mi mis su sus nuestro nuestra muy se me le',
  ),
  doubtful: spaced(
    'bueno entonces así bien ya eso esto este esta ese esa también quizás tal luego tu te cuando como es son soy más',
  ),
  leadingEnd: undefined,
  begun: listed(
    'me llamo|mi nombre es|mi número es|yo soy|me gustaría|quisiera|quiero|necesito|tengo|estoy|busco|quería|puede|podría|puedo|tiene',
    'se puede|creo que|pienso que|o sea|es que|hay que',
    'por otro lado|por un lado|en primer lugar|por ejemplo|para ser sincero|en otras palabras|en mi caso|si es posible|el problema es|la pregunta es|sabe usted|cómo le diría|podría por favor|me podría|quizás podríamos|tal vez podríamos|a lo mejor podríamos|por favor podría',
  ),
  openings: listed(
    'em|bueno|pues|entonces|o sea|es que|digamos|mire|mira|oiga|oye|verá|en fin|ya sabe',
    'pues bueno|bueno pues|y|pero|el|los|las|me llamo|mi nombre es|mi número es|yo me llamo',
  ),
  shortQuestions: listed(
    'hasta cuándo|hasta qué hora|desde cuándo|a partir de cuándo|para cuándo|por cuánto|a qué hora|con quién|para quién|de dónde|a dónde|adónde|para qué|por qué no|qué más|quién más|cuál de ellos',
    'pero cuánto|y cuánto|pero cuándo|y cuándo|pero dónde|y dónde|pero cómo|y cómo',
  ),
  thinking: listed(
    'a ver|déjeme ver|déjame ver|déjeme pensar|déjame pensar|déjeme mirar|déjame mirar|déjeme buscar|déjeme comprobar|deje que mire|deja que mire|vamos a ver|veamos|espere|espera|espere un momento|espera un momento|espere un segundo|espera un segundo|espérese',
    'un momento|un momento por favor|un momentito|un segundo|un segundito|un segundo por favor|un minuto|un minutito|momento|deme un segundo|deme un momento|dame un segundo|dame un momento|tengo que mirar|tengo que mirarlo|tengo que buscar|tengo que buscarlo|tengo que pensar|tengo que pensarlo',
    'lo estoy buscando|estoy buscando|estoy mirando|estoy pensando|voy a mirar|voy a ver|voy a buscarlo|lo busco|lo miro|cómo se dice|buena pregunta|es una buena pregunta|permítame|permítame un momento|ya le digo|ahora le digo|aguarde|aguarde un momento',
    'espere que miro|espera que miro|espere que lo busco|deje que piense|deja que piense|cómo le digo|cómo te digo|cómo decirlo|un momento que miro|un segundo que miro|permítame ver|déjeme revisar|déjame revisar|déjeme checar|déjame checar',
    'voy a por la tarjeta|voy a buscarla|déjeme buscarlo|déjeme buscar la tarjeta|dónde lo puse|dónde la he puesto',
    'necesito un momento|no cuelgue|ya casi|ya lo tengo casi|lo tengo en la punta de la lengua|lo tenía por aquí|ahora se lo digo|enseguida se lo digo',
    'ahora vuelvo|enseguida vuelvo|vuelvo enseguida',
    'déjeme que piense|déjame que piense|déjeme que lo piense|cómo le diría|cómo diría',
  ),
  askingForTime: {
    moments: spaced(
      'momento momentito momentico segundo segundos segundito minuto minutos minutito instante paciencia esperar',
      'segundines minutitos',
    ),
    granting: spaced(
      'un uno dos solo sólo deme dame dé por favor puede podría tenga ten poco de más otro espere espera me',
    ),
    own: listed(
      'tengo que|voy a|voy por|estoy|lo estoy|la estoy|déjeme|déjame|deje que|deja que|permítame|para|que|busco|cojo|saco|abro|miro|pregunto|debo',
      'necesito',
      'a ver si|bajo|subo|enciendo|voy un momento|voy un segundo',
    ),
    looks: spaced(
      'buscar buscarlo buscarla buscando busco busque mirar mirarlo mirarla mirando miro mire comprobar comprobarlo comprobando compruebe revisar revisarlo',
      'revisando revise verificar verificarlo verifique encontrar encontrarlo encontrarla consultar consultarlo checar',
      'encuentro lo',
    ),
    takes: spaced(
      'entrando por coger cojo agarrar traer sacar saco sacando saque abrir abro abriendo abra preguntar preguntarle pregunto preguntando pregunte entrar conectarme',
      'voy encender encienda enciendo bajar subir bajo subo poner pongo',
    ),
    things: spaced(
      'tarjeta gafas lentes anteojos boli bolígrafo lapicero pluma lápiz papel pasaporte cartera billetera carta correo mail email aplicación app dni cédula',
      'identificación carnet carné documento documentos papeles factura agenda calendario notas carpeta mujer esposa marido esposo jefe jefa madre padre hijo',
      'hija compañero compañera pantalla recibo',
      'ordenador computadora portátil escritorio despacho cajón altavoz arriba abajo',
    ),
    after: spaced(
      'rápido rápidamente primero ahora lo la eso un poco aquí antes momento',
      'si por mi al ello a',
    ),
  },
  corrections: listed(
    'no perdón|perdón no|no perdone|perdone no|no espere|no quiero decir|quiero decir|quise decir|digo|no digo|mejor dicho|no lo siento|o sea no|más bien|ay no',
  ),
  isLearned: true,
  numbers: {
    asked: String.raw`número|numero|dígito|localizador|referencia|cifra|código|codigo|deletre|letra por letra|correo|e-?mail|matrícula|\b(?:pin|iban)\b`,
    spelled: String.raw`deletre|letra por letra`,
    counted: 'dígitos|digitos|cifras|números|caracteres|letras',
    values: spaced(
      'cero uno/una/un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve',
      'veinte veintiuno/veintiún/veintiuna veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve treinta',
    ),
    digits: [],
    tens: spaced('cuarenta cincuenta sesenta setenta ochenta noventa'),
    pairs: spaced(
      'veintiuno veintiún veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve',
    ),
    double: ['doble'],
    triple: ['triple'],
    between: spaced('y e guion guión raya menos punto espacio luego eh em'),
    mailAsked: 'correo|e-?mail',
    joints: spaced('punto guion guión raya subrayado barra'),
    ats: spaced('arroba at'),
  },
  sentences: {
    abbreviations: spaced(
      'sr sra srta dr dra ud uds d dña prof núm pág tel av avda etc ext art aprox ee uu máx mín',
    ),
    lastAbbreviations: ['etc', 'uu'],
    openers: spaced(
      'yo usted él ella nosotros ellos el la los las un una hay puede quiere y pero si gracias',
    ),
    leadsOn: spaced(
      'el la los las un una unos unas y o pero que de del a al en con por para su sus mi es son se no muy',
    ),
    beforeOrdinal: [],
    afterOrdinal: [],
  },
  answers: {
    yes: listed(
      'sí|claro|claro que sí|vale|de acuerdo|okay|ok|por supuesto|desde luego|correcto|exacto|adelante',
      'hágalo|hazlo|confirmo|perfecto|está bien|así es|dale',
    ),
    no: listed(
      'no|nunca|jamás|pare|espere|espera|cancele|cancela|cancelar|detente|incorrecto|déjelo|déjalo',
      'olvídelo|olvídalo|tampoco|un momento|para nada|en absoluto|de ninguna manera|de ningún modo',
      'claro que no|por supuesto que no|desde luego que no|seguro que no|obviamente no|naturalmente no|evidentemente no',
    ),
    firmYes: listed('sí|claro que sí|por supuesto'),
    // "Resérvelo" as well.
    order: new RegExp(`^(?:${orders}|\\p{L}+[ae](?:me)?l[oa]s?)(?: |$)`, 'u'),
    told: undefined,
    accepts: listed(
      'sería muy amable|sería muy amable de su parte|sería maravilloso|está perfecto|exactamente|efectivamente|así lo quiero',
      'lo quiero|eso quiero|eso es lo que quiero|me parece bien|me parece perfecto|me parece|estoy de acuerdo|estoy seguro|estoy segura|sería genial',
      'sería estupendo|sería perfecto|sería fantástico|estaría bien|estaría genial|suena bien|puede hacerlo|puedes hacerlo|háganlo|con gusto|con mucho gusto',
      'encantado|encantada|proceda|procede|si es tan amable|si me hace el favor|es correcto|eso es|acepto|muy bien',
    ),
    wishes: listed('quiero|quisiera|me gustaría|me encantaría|me gustaría mucho'),
    courtesies: listed(
      'gracias por su ayuda|oh|ah|hm|hmm|super',
      'eh|bueno|pues|por favor|gracias|muchas gracias|muchísimas gracias|mil gracias|señor|señora|señorita|muy amable|genial|estupendo|fenomenal',
    ),
    light: spaced('lo eso entonces que es'),
    tellers: spaced('yo mi mis nosotros nos'),
    openers: spaced('el los la las un una para a en con de y también'),
    hedges: spaced(
      'pero si quizás quizá vez creo mejor primero después antes solo otro otra qué cómo cuándo cuánto cuál quién dónde depende excepto salvo cambiar fuera',
      'sé entiendo entendido comprendo veo oigo escucho saber preguntar pregunta hola todavía aún ya aquí tengo soy llamo dígame probablemente supongo espero aunque tal repita repite repítalo repítelo explíqueme explique explica léalo léamelo escuche escucha minuto',
    ),
    details: spaced(
      'dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta media hoy mañana tarde noche semana próximo próxima lunes martes miércoles',
      'jueves viernes sábado domingo personas también',
    ),
    noRefusal: listed(
      'no hay problema|no pasa nada|por qué no|cómo no|si no le importa|si no te importa|no tengo inconveniente',
    ),
    undoing: [
      {
        tool: /(?:^| )(?:cancel|anul)/u,
        said: listed(
          'cancele|cancela|cancelar|anule|anula|anular|cancele eso|cancela eso|cancélelo|cancélela|cancélalo|cancélala|cancelelo|cancelela|cancelalo|cancelala|anúlelo|anúlela|anúlalo|anúlala',
        ),
        clear: listed(
          'cancélelo|cancélela|cancélalo|cancélala|cancelelo|cancelela|cancelalo|cancelala|anúlelo|anúlela|anúlalo|anúlala|cancele por favor|por favor cancele|puede cancelar|puede cancelarla|puede cancelarlo|cancelar por favor|por favor cancelar',
        ),
      },
      {
        tool: /(?:^| )(?:stop|deten|paus)/u,
        said: listed('pare|para|detenga|detente|deténgalo|deténgala'),
        clear: listed('deténgalo|deténgala|deténgalo por favor'),
      },
      {
        tool: /(?:^| )(?:delet|remov|eras|borr|elimin)/u,
        said: listed(
          'borre|borra|borrar|elimine|elimina|eliminar|bórrelo|bórrela|bórralo|bórrala|elimínelo|elimínela',
        ),
        clear: listed(
          'bórrelo|bórrela|bórralo|bórrala|elimínelo|elimínela|borre por favor|por favor borre|elimine por favor|por favor elimine',
        ),
      },
    ],
  },
};
